package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/internal/realchain"
)

// inReality is the source of what the ledgers told.
const inReality = "measured"

// maxReal bounds the time of one command's runs; from longReal on it is told in
// advance.
const (
	maxReal  = 10 * time.Minute
	longReal = 3 * time.Second
)

// realRun is a chain that was simulated and run.
type realRun struct {
	*realchain.Run
	m realchain.Measured
}

func (r realRun) simulated() chainRun { return chainRun{simulated, r.Chain, r.Simulated} }

func runRealChain(ctx context.Context, o *chainOptions, s cli.Streams) error {
	runs := make([]realRun, len(o.chains))
	var takes time.Duration
	for i, c := range o.chains {
		r, err := realchain.New(c, o.tick.D)
		if errors.Is(err, realchain.ErrUnsupported) {
			err = fmt.Errorf("%w; leave out --real or change it", err)
		}
		if err != nil {
			return cli.Usagef("chain of %d hops, policy %s: %w", c.Hops, c.Policy, err)
		}
		runs[i].Run = r
		takes += r.Takes()
	}
	if takes > maxReal {
		return cli.Usagef("these chains take %v in all: at most %v; a shorter --tick or a shorter list helps", takes.Round(time.Second), maxReal)
	}
	if takes > longReal {
		fmt.Fprintf(s.Err, "running for some %v\n", takes.Round(time.Second))
	}
	progress := cli.NewProgress(s.Err, len(runs), "running")
	defer progress.Close()
	done := 0
	var failed error
	for i := range runs {
		if runs[i].m, failed = runs[i].Measure(ctx); failed != nil {
			break
		}
		done++
		progress.Add(1)
	}
	progress.Close()
	runs = runs[:done]
	w := &errWriter{w: s.Out}
	if err := reportReal(w, o, runs); err != nil {
		return err
	}
	switch {
	case w.err != nil:
		return w.err
	case failed != nil && ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted after %d of %d chains", done, len(o.chains)))
	case failed != nil:
		return fmt.Errorf("chain: %w", failed)
	}
	return nil
}

// reportReal prints the runs, of each what was simulated and then what was
// measured.
func reportReal(w io.Writer, o *chainOptions, runs []realRun) error {
	switch o.format.Value {
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, r := range runs {
			if err := errors.Join(e.Encode(o.line(r.simulated())), e.Encode(o.realLine(r))); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return o.realCSV(w, runs)
	}
	if len(runs) > 0 {
		realTable(w, o, runs)
	}
	return nil
}

// realLine is a measured run as JSON shows it.
type realLine struct {
	chainHead
	Tick cli.Millis `json:"tick_ms"`
	Late cli.Millis `json:"deadlines_late_ms"`

	OK        bool       `json:"ok"`
	Agrees    bool       `json:"agrees"` // success and the calls of every hop are as simulated
	Status    int        `json:"status"` // what the entry answered
	LeafCalls int        `json:"leaf_calls"`
	AllCalls  int        `json:"all_calls"`
	Elapsed   cli.Millis `json:"elapsed_ms"`
	Orphaned  cli.Millis `json:"orphaned_ms"`
	Overlap   cli.Millis `json:"orphaned_overlap_ms"`
	Entry     cli.Millis `json:"entry_elapsed_ms"`
	LeafEnd   cli.Millis `json:"leaf_end_ms"` // when its last work was over
	LeafOK    int        `json:"leaf_ok"`
	Work      cli.Millis `json:"work_ms"`
	Calls     []int      `json:"calls"`   // of each hop, the entry first
	Told      [][]*int   `json:"told_ms"` // to the tries of each hop, the entry's first
	ToldCut   bool       `json:"told_cut"`
	realTimeLine
}

func (o *chainOptions) realLine(r realRun) realLine {
	m := r.m
	l := realLine{
		chainHead: o.head(r.Chain, inReality), Tick: cli.Millis(r.Tick), Late: cli.Millis(r.Late()),
		OK: m.OK, Agrees: m.Agrees, Status: m.Status, LeafCalls: m.LeafCalls, AllCalls: m.AllCalls,
		Elapsed: cli.Millis(m.Elapsed), Orphaned: cli.Millis(m.Orphaned), Overlap: cli.Millis(m.OrphanedOverlap),
		Entry: cli.Millis(m.Entry), LeafEnd: cli.Millis(m.Leaf), LeafOK: m.LeafOK, Work: cli.Millis(m.Work),
		Calls: m.Calls, Told: [][]*int{}, realTimeLine: newRealTimeLine(m.Spans),
	}
	for _, all := range m.Told {
		told := []*int{}
		for i := range all {
			if i == maxTold {
				l.ToldCut = true
				break
			}
			if all[i] < 0 {
				told = append(told, nil)
				continue
			}
			told = append(told, &all[i])
		}
		l.Told = append(l.Told, told)
	}
	return l
}

// realCSV prints the columns of a simulated run and behind them the times in
// ms, which alone a measured one has.
func (o *chainOptions) realCSV(w io.Writer, runs []realRun) error {
	c := csv.NewWriter(w)
	_ = c.Write(append(chainColumns(), // its error comes with Flush
		"tick_ms", "elapsed_ms", "orphaned_ms", "orphaned_overlap_ms", "entry_elapsed_ms", "work_ms", "status", "agrees"))
	for _, r := range runs {
		tick := cli.Millis(r.Tick)
		row := o.cells(r.simulated())
		sim := r.inTime()
		_ = c.Write(append(row, tick.String(), sim.elapsed.String(), sim.orphaned.String(), sim.overlap.String(), sim.entry.String(), sim.work.String(), "", ""))
		l := o.realLine(r)
		row = append(o.headCells(l.chainHead), strconv.FormatBool(l.OK), strconv.Itoa(l.LeafCalls), strconv.Itoa(l.AllCalls),
			"", "", "", "", strconv.Itoa(l.LeafOK), "", "")
		_ = c.Write(append(row, tick.String(), l.Elapsed.String(), l.Orphaned.String(), l.Overlap.String(), l.Entry.String(), l.Work.String(),
			strconv.Itoa(l.Status), strconv.FormatBool(l.Agrees)))
	}
	c.Flush()
	return c.Error()
}
