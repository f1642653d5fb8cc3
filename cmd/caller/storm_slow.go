package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/storm"
)

// slowOptions is what the flags of storm slow-partner say.
type slowOptions struct {
	workers, needs, others numbers
	usual, slow            cli.Duration
	generous, tight        cli.Duration
	patience               cli.Duration
	healthy, failure       cli.Duration
	format                 cli.Choice

	runs []slowRun
}

// slowRun is one limit to be tried.
type slowRun struct {
	name string
	cfg  storm.SlowConfig
}

func newStormSlow(s cli.Streams, run func(context.Context, *slowOptions, cli.Streams) error) *cobra.Command {
	o := newSlowOptions()
	cmd := &cobra.Command{
		Use:   "slow-partner",
		Short: "one slow partner takes a whole service down, or does not",
		Long: `slow-partner starts a service with few workers whose partner turns slow. Some
requests need the partner and hold a worker while they wait for it; others do
not, and only need a worker for a moment. With a generous limit on the call to
the partner all workers wait, and nobody is served. With a tight one, requests
that need the partner fail fast, and the others go on.

The arithmetic is workers / what a request holds one for: 5 workers and 20 ms
are 250/s; with a partner that takes 3 s, 1.7/s; cut at 50 ms, 100/s. The same
as with 50 workers, 200 ms, 30 s, and limits of 60 s and 500 ms. Keep --needs
below what the tight limit leaves room for, or no limit helps.

Both limits are measured at the same time, against services and partners of
their own, all on loopback. Who calls the service waits for --patience and then
leaves; what waits for a worker leaves with it. could is the arithmetic with the
time that requests really held a worker, ended how many really were done with.

--format json prints one object a limit (schema caller.slow_partner/1).
Exit codes: 0 measured, 1 an error, 2 wrong usage, 130 interrupted (what was
measured is printed all the same).`,
		Example: `  caller storm slow-partner
  caller storm slow-partner --tight 30ms
  caller storm slow-partner --needs 150     more than even the tight limit bears
  caller storm slow-partner --slow 1s --generous 3s --failure 4s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return cli.Usagef("%w", err)
			}
			return run(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&o.workers, "workers", "workers of the service")
	f.Var(&o.usual, "usual", "what the partner usually takes")
	f.Var(&o.slow, "slow", "and when it is slow")
	f.Var(&o.generous, "generous", "one limit of a call to the partner")
	f.Var(&o.tight, "tight", "and another")
	f.Var(&o.needs, "needs", "requests/s that need the partner")
	f.Var(&o.others, "others", "and that do not")
	f.Var(&o.patience, "patience", "how long who calls the service waits")
	f.Var(&o.healthy, "healthy", "so long the partner is well")
	f.Var(&o.failure, "failure", "then it is slow for so long")
	f.Var(&o.format, "format", "how results are printed")
	return cmd
}

func newSlowOptions() *slowOptions {
	standard, _ := storm.SlowConfig{}.Complete() // what is zero cannot be wrong
	number := func(n, most int) numbers {
		return numbers{values: []int64{int64(n)}, least: 1, most: int64(most)}
	}
	const tight = 50 * time.Millisecond
	return &slowOptions{
		workers: number(standard.Workers, storm.MaxWorkers),
		needs:   number(standard.Needs, storm.MaxSlowCalls/2), others: number(standard.Others, storm.MaxSlowCalls/2),
		usual: cli.Duration{D: standard.Usual}, slow: cli.Duration{D: standard.Slow},
		generous: cli.Duration{D: standard.Limit}, tight: cli.Duration{D: tight},
		patience: cli.Duration{D: standard.Patience},
		healthy:  cli.Duration{D: standard.Healthy}, failure: cli.Duration{D: standard.Failure},
		format: cli.Format("table", "json"),
	}
}

// complete makes the runs that the flags ask for. Every error is one of usage.
func (o *slowOptions) complete() error {
	if o.tight.D >= o.generous.D {
		return fmt.Errorf("--tight %v is not below --generous %v", o.tight.D, o.generous.D)
	}
	for _, limit := range []struct {
		name string
		d    time.Duration
	}{{"generous", o.generous.D}, {"tight", o.tight.D}} {
		cfg, err := storm.SlowConfig{
			Workers: int(o.workers.first()), Needs: int(o.needs.first()), Others: int(o.others.first()),
			Usual: o.usual.D, Slow: o.slow.D, Limit: limit.d, Patience: o.patience.D, Healthy: o.healthy.D, Failure: o.failure.D,
		}.Complete()
		if err != nil {
			return err
		}
		o.runs = append(o.runs, slowRun{limit.name, cfg})
	}
	return nil
}

// slowResult is a limit and what it came to.
type slowResult struct {
	name string
	*storm.SlowReport
}

func runStormSlow(ctx context.Context, o *slowOptions, s cli.Streams) error {
	progress := cli.NewProgress(s.Err, 1, "waiting for both services")
	defer progress.Close()
	results, failed := make([]slowResult, len(o.runs)), make([]error, len(o.runs))
	var both sync.WaitGroup
	for i, r := range o.runs {
		both.Go(func() {
			results[i].name = r.name
			results[i].SlowReport, failed[i] = storm.RunSlow(ctx, r.cfg)
		})
	}
	both.Wait()
	progress.Close()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	w := &errWriter{w: s.Out}
	if err := errors.Join(reportSlow(w, o, results), w.err); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted: the figures are those up to then"))
	}
	return nil
}

func reportSlow(w io.Writer, o *slowOptions, results []slowResult) error {
	if o.format.Value == "json" {
		e := json.NewEncoder(w)
		for _, r := range results {
			if err := e.Encode(r.line()); err != nil {
				return err
			}
		}
		return nil
	}
	c := results[0].Config
	fmt.Fprintln(w, cli.Paragraph("service  ", fmt.Sprintf("%d workers; %d requests/s need its partner, %d do not; patience %s",
		c.Workers, c.Needs, c.Others, cli.ShowLimit(c.Patience))))
	fmt.Fprintln(w, cli.Paragraph("partner  ", fmt.Sprintf("takes %s, then %s", cli.ShowLimit(c.Usual), cli.ShowLimit(c.Slow))))
	var limits []string
	for _, r := range results {
		limits = append(limits, r.name+" "+cli.ShowLimit(r.Config.Limit))
	}
	fmt.Fprintln(w, cli.Paragraph("limits   ", strings.Join(limits, ", ")))
	fmt.Fprintln(w)
	t := cli.NewTable(w, "limit\n", "partner\n", "need the\nat most/s", "partner:\ncould/s", "\nended/s", "\ngood", "others:\ngood", "\np99")
	rightFrom(t, 8, 0, 3)
	for _, r := range results {
		for _, p := range []struct {
			name string
			storm.SlowPhase
		}{{"as usual", r.Usual}, {"slow", r.Failing}} {
			if p.Needs.Due == 0 {
				continue // it did not come to that
			}
			t.AppendRow(table.Row{
				r.name, p.name, tenths(p.AtMost), tenths(p.Could), tenths(p.Ended),
				share(p.Needs), share(p.Others), cli.Show(p.Others.P99),
			})
		}
	}
	t.Render()
	for _, note := range slowNotes(results) {
		fmt.Fprintf(w, "\n%s\n", cli.Wrap(note, cli.Width))
	}
	return nil
}

// share says how many of those that were due were good.
func share(s storm.Served) string {
	if s.Due == 0 {
		return "-"
	}
	return rounded(100*float64(s.Good)/float64(s.Due)) + " %"
}

// slowNotes says what to notice.
func slowNotes(results []slowResult) []string {
	var notes []string
	for _, r := range results {
		c, o := r.Config, r.Failing.Others
		if r.Interrupted || o.Due == 0 {
			return nil
		}
		rest := fmt.Sprintf("of the requests that do not need the partner %s were good.", share(o))
		if over := float64(c.Needs) - r.Failing.AtMost; over > 0 {
			notes = append(notes, fmt.Sprintf("With a limit of %s, workers can end %s/s of the %d/s that need the slow partner: the rest queue, before everybody; %s",
				cli.ShowLimit(c.Limit), tenths(r.Failing.AtMost), c.Needs, rest))
		} else {
			notes = append(notes, fmt.Sprintf("With a limit of %s there is room for %s/s: those that need the slow partner fail fast; %s",
				cli.ShowLimit(c.Limit), tenths(r.Failing.AtMost), rest))
		}
	}
	return notes
}
