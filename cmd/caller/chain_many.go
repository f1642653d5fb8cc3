package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

// runsSchema names the form of the JSON line of many runs of a chain.
const runsSchema = "caller.chain.runs/1"

// manyRuns is a chain with something random, and how its runs are spread.
type manyRuns struct {
	chain deadlinechain.Chain
	deadlinechain.Summary
	saved *big.Int // how much work being told to stop saves in the mean; nil if that is not asked or known
}

func runManyChains(ctx context.Context, o *chainOptions, s cli.Streams) error {
	progress := cli.NewProgress(s.Err, len(o.chains), "chains")
	defer progress.Close()
	var all []manyRuns
	for _, c := range o.chains {
		m, err := repeatChain(ctx, c, int(o.runs.first()))
		switch {
		case ctx.Err() != nil:
			return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted after %d of %d chains", len(all), len(o.chains)))
		case err != nil:
			return cli.Usagef("chain of %d hops, policy %s: %w", c.Hops, c.Policy, err)
		}
		all = append(all, m)
		progress.Add(1)
	}
	progress.Close()
	w := &errWriter{w: s.Out}
	return errors.Join(reportMany(w, o, all), w.err)
}

func repeatChain(ctx context.Context, c deadlinechain.Chain, runs int) (manyRuns, error) {
	s, err := deadlinechain.Repeat(ctx, c, runs)
	if err != nil {
		return manyRuns{}, err
	}
	m := manyRuns{chain: c, Summary: s}
	if !c.Stop {
		return m, nil
	}
	c.Stop = false
	without, err := deadlinechain.Repeat(ctx, c, runs)
	switch {
	case errors.Is(err, deadlinechain.ErrInvalid): // it would never end
		return m, nil
	case err != nil:
		return manyRuns{}, fmt.Errorf("without --stop: %w", err)
	}
	m.saved = new(big.Int).Sub(without.Work.Mean(), s.Work.Mean())
	return m, nil
}

// runsLine is many runs as JSON shows them.
type runsLine struct {
	chainHead
	Runs      int        `json:"runs"`
	OK        int        `json:"ok_runs"`
	LeafCalls spreadLine `json:"leaf_calls"`
	Elapsed   spreadLine `json:"elapsed"`
	Entry     spreadLine `json:"entry_elapsed"`
	Work      spreadLine `json:"work"`
	Orphaned  spreadLine `json:"orphaned"`
	Overlap   spreadLine `json:"orphaned_overlap"`
	Saved     *big.Int   `json:"saved_mean,omitempty"`
}

// spreadLine is a spread as JSON shows it; null is what too few runs tell.
type spreadLine struct {
	Min  *big.Int `json:"min"`
	P50  *big.Int `json:"p50"`
	P90  *big.Int `json:"p90"`
	P99  *big.Int `json:"p99"`
	Max  *big.Int `json:"max"`
	Mean *big.Int `json:"mean"`
}

func newSpreadLine(s deadlinechain.Spread) spreadLine {
	return spreadLine{s.Min(), s.Percentile(50), s.Percentile(90), s.Percentile(99), s.Max(), s.Mean()}
}

func (o *chainOptions) manyLine(m manyRuns) runsLine {
	l := runsLine{
		chainHead: o.head(m.chain, simulated), Runs: m.Runs, OK: m.OK,
		LeafCalls: newSpreadLine(m.LeafCalls), Elapsed: newSpreadLine(m.Elapsed), Entry: newSpreadLine(m.Entry),
		Work: newSpreadLine(m.Work), Orphaned: newSpreadLine(m.Orphaned), Overlap: newSpreadLine(m.OrphanedOverlap), Saved: m.saved,
	}
	l.Schema = runsSchema
	return l
}

func reportMany(w io.Writer, o *chainOptions, all []manyRuns) error {
	switch o.format.Value {
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, m := range all {
			if err := e.Encode(o.manyLine(m)); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return o.manyCSV(w, all)
	}
	o.manyTable(w, all)
	return nil
}

func (o *chainOptions) manyCSV(w io.Writer, all []manyRuns) error {
	c := csv.NewWriter(w)
	head := append(chainColumns()[:headColumns:headColumns], "runs", "ok_runs")
	for _, name := range []string{"leaf_calls", "elapsed", "entry_elapsed", "work", "orphaned", "orphaned_overlap"} {
		for _, of := range []string{"min", "p50", "p90", "p99", "max", "mean"} {
			head = append(head, name+"_"+of)
		}
	}
	_ = c.Write(append(head, "saved_mean")) // its error comes with Flush
	for _, m := range all {
		l := o.manyLine(m)
		row := append(o.headCells(l.chainHead), strconv.Itoa(l.Runs), strconv.Itoa(l.OK))
		for _, s := range []spreadLine{l.LeafCalls, l.Elapsed, l.Entry, l.Work, l.Orphaned, l.Overlap} {
			for _, n := range []*big.Int{s.Min, s.P50, s.P90, s.P99, s.Max, s.Mean} {
				row = append(row, orNothing(n))
			}
		}
		_ = c.Write(append(row, orNothing(l.Saved)))
	}
	c.Flush()
	return c.Error()
}

func orNothing(n *big.Int) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// manyTable prints a row for each chain: in how many runs the entry succeeded,
// and how the numbers are spread.
func (o *chainOptions) manyTable(w io.Writer, all []manyRuns) {
	fmt.Fprintln(w, cli.Paragraph("chain   ", strings.Join(o.inCommon(), ", ")))
	fmt.Fprintln(w)
	// As exact as there is room for; JSON always is.
	for digits := 7; ; digits-- {
		var rows strings.Builder
		o.manyRows(&rows, all, digits)
		if digits == 4 || columns(rows.String()) <= cli.Width {
			fmt.Fprint(w, rows.String())
			break
		}
	}
	for _, note := range manyNotes(all) {
		fmt.Fprintf(w, "\n%s\n", cli.Wrap(note, cli.Width))
	}
}

func (o *chainOptions) manyRows(w io.Writer, all []manyRuns, digits int) {
	head := append(o.whichHead(), "entry\nok", "leaf\np50", "calls\np99", "entry\np50", "done\np99", "all\np50", "over\np99")
	if o.stop {
		head = append(head, "saved\nmean")
	} else {
		head = append(head, "overlap\nmean", "\np99")
	}
	var rows [][]string
	for _, m := range all {
		row := append(o.which(m.chain), succeeded(m.OK, m.Runs))
		for _, s := range []deadlinechain.Spread{m.LeafCalls, m.Entry, m.Elapsed} {
			row = append(row, fitted(s.Percentile(50), digits), fitted(s.Percentile(99), digits))
		}
		if o.stop {
			row = append(row, fitted(m.saved, digits))
		} else {
			row = append(row, fitted(m.OrphanedOverlap.Mean(), digits), fitted(m.OrphanedOverlap.Percentile(99), digits))
		}
		rows = append(rows, row)
	}
	plainTable(w, head, rows)
}

// succeeded writes n of all as a percentage that is 0 and 100 only where it is.
func succeeded(n, all int) string {
	p := 100 * float64(n) / float64(all)
	switch {
	case n > 0 && p < 0.1:
		p = 0.1
	case n < all && p > 99.9:
		p = 99.9
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + "%"
}

// manyNotes says what to notice.
func manyNotes(all []manyRuns) []string {
	for _, m := range all {
		if lost := m.OrphanedOverlap.Max(); lost.Sign() > 0 {
			return []string{fmt.Sprintf("With policy %s those below worked up to %s for nobody after the entry was done: only they can show it.",
				m.chain.Policy, fitted(lost, 15))}
		}
	}
	return nil
}
