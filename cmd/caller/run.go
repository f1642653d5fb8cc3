package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
	"chaoslab/faults/admin"
)

// runner makes calls: a *budgetcaller.Caller, or what a test puts there.
type runner interface {
	Run(ctx context.Context, req *http.Request, sink io.Writer) (budgetcaller.Result, error)
}

// series measures targets one after the other.
type series struct {
	opts      *measureOptions
	runner    runner   // makes calls of one attempt
	doer      doer     // makes those that may have more
	ledger    ledger   // nil: no partner is asked
	listeners []target // of the partner
	limiter   *rate.Limiter
	report    report
	progress  *cli.Progress
	warn      io.Writer
	watch     *testNetWatch // nil: one of its own

	unexpected map[budgetcaller.Class]int
	doubted    bool // it was said that the ledger could not be read
}

// ledgerWait bounds what asking the partner may take after the call is over.
const ledgerWait = 2 * time.Second

// runMeasure measures what o says and prints it.
func runMeasure(ctx context.Context, o *measureOptions, s cli.Streams) error {
	watch := newTestNetWatch(s.Err)
	caller, err := budgetcaller.New(watch.guard(o.config()))
	if err != nil {
		return cli.Usagef("%w", err)
	}
	defer caller.Close()
	m := &series{opts: o, runner: caller, doer: caller, warn: s.Err, watch: watch}
	if o.partner != "" {
		client, err := admin.NewClient(o.partner)
		if err != nil {
			return cli.Usagef("--partner: %w", err)
		}
		defer client.Close()
		m.ledger = adminLedger{client}
	}
	return m.all(ctx, s)
}

// all measures every target and prints the results.
func (m *series) all(ctx context.Context, s cli.Streams) error {
	o := m.opts
	if err := m.meetPartner(ctx); err != nil {
		return err
	}
	if m.watch == nil {
		m.watch = newTestNetWatch(s.Err)
	}
	for _, t := range o.targets {
		m.watch.see(t.url)
	}
	m.limiter = rate.NewLimiter(rate.Inf, 1)
	if o.interval.IsSet {
		m.limiter.SetLimit(rate.Every(o.interval.D))
	}
	if m.report == nil {
		m.report = newReport(o, s)
	}
	m.progress = &cli.Progress{}
	if o.format.Value == "table" || !cli.IsTerminal(s.Out) {
		m.progress = cli.NewProgress(s.Err, o.runs*len(o.targets), "measuring")
	}
	var sums []summary
	var err error
	for _, t := range o.targets {
		var sum summary
		sum, err = m.measure(ctx, t)
		if sum.Runs > 0 {
			sums = append(sums, sum)
		}
		if err != nil || ctx.Err() != nil {
			break
		}
	}
	m.progress.Close()
	return cmp.Or(err, m.report.end(sums), m.verdict(ctx, sums))
}

// meetPartner asks the partner what it listens on: the targets, where no URL
// was given, and their names, where it was.
func (m *series) meetPartner(ctx context.Context) error {
	if m.ledger == nil {
		return nil
	}
	o := m.opts
	ask, cancel := context.WithTimeout(ctx, ledgerWait)
	defer cancel()
	listeners, err := m.ledger.listeners(ask)
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted before the first run"))
	}
	if err == nil {
		m.listeners, err = targetsOf(listeners)
	}
	if err != nil {
		return fmt.Errorf("--partner %s: %w (the admin URL is in the last ready line of: partner --mode all)", o.partner, err)
	}
	if len(o.targets) == 0 {
		o.targets = m.listeners
		if len(o.targets) == 0 {
			return fmt.Errorf("--partner %s: this partner has no listener to measure", o.partner)
		}
		return o.checkCaps()
	}
	for i, t := range o.targets {
		name, ok := belongs(t.url, m.listeners)
		if !ok {
			fmt.Fprintf(m.warn, "caller: warning: %s is no listener of the partner at %s: measured without its record\n", t, o.partner)
		}
		o.targets[i].name = name
	}
	return nil
}

// measure makes all runs of one target, reports each as it ends, and sums up.
// It returns after the last one, or once those under way at the end of ctx are
// over.
func (m *series) measure(ctx context.Context, t target) (summary, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	tally := newTally(t)
	var failed error
	for r := range m.runs(inner, t) {
		if failed != nil {
			continue // what it cancelled is no result
		}
		if failed = r.err; failed == nil {
			tally.add(r.measurement)
			m.doubt(r.doubt)
			m.judge(r.measurement)
			m.progress.Add(1)
			failed = m.report.add(r.measurement)
		}
		if failed != nil {
			stop()
		}
	}
	return tally.summary(), failed
}

// outcome is a measurement, or why there is none.
type outcome struct {
	measurement
	doubt error // why the partner's record of it is not known
	err   error
}

// runs starts the runs, o.parallel at a time and o.interval apart, until ctx is
// over, and closes the channel after the last result. It must be drained.
func (m *series) runs(ctx context.Context, t target) <-chan outcome {
	starts, results := make(chan int), make(chan outcome)
	var workers sync.WaitGroup
	for range min(m.opts.parallel, m.opts.runs) {
		workers.Go(func() {
			for n := range starts {
				results <- m.once(ctx, t, n)
			}
		})
	}
	go func() {
		defer func() { close(starts); workers.Wait(); close(results) }()
		for n := 1; n <= m.opts.runs; n++ {
			if m.limiter.Wait(ctx) != nil {
				return
			}
			select {
			case starts <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	return results
}

// doubt says once that the partner's record could not be read.
func (m *series) doubt(err error) {
	if err != nil && !m.doubted {
		m.doubted = true
		fmt.Fprintf(m.warn, "caller: warning: the partner's record could not be read: %v\n", err)
	}
}

// judge counts what --expect did not name.
func (m *series) judge(r measurement) {
	class := r.last().Class
	if len(m.opts.expect) == 0 || slices.Contains(m.opts.expect, class) {
		return
	}
	if m.unexpected == nil {
		m.unexpected = map[budgetcaller.Class]int{}
	}
	m.unexpected[class]++
}

// verdict says how the command ends once all is printed.
func (m *series) verdict(ctx context.Context, sums []summary) error {
	runs := 0
	for _, s := range sums {
		runs += s.Runs
	}
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted after %d of %d runs", runs, m.opts.runs*len(m.opts.targets)))
	}
	if len(m.unexpected) == 0 {
		return nil
	}
	var wanted, got []string
	for _, c := range m.opts.expect {
		wanted = append(wanted, c.String())
	}
	bad := 0
	for _, info := range budgetcaller.Classes() {
		if n := m.unexpected[info.Class]; n > 0 {
			got, bad = append(got, fmt.Sprintf("%s %d", info.Class, n)), bad+n
		}
	}
	return cli.Exit(cli.ExitFailed, errors.New("expected "+strings.Join(wanted, " or ")+
		fmt.Sprintf(", but %d of %d runs ended otherwise: ", bad, runs)+strings.Join(got, ", ")))
}
