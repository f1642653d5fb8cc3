package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// suggestOptions is what the flags of suggest say.
type suggestOptions struct {
	measureOptions
	factor   float64
	newConns bool
	now      func() time.Time
}

// The factors between a p99 and its limit. Below least a limit cuts good calls
// whenever the partner is a little slower than it was; from most on it is as good
// as none.
const (
	defaultFactor = 3.0
	leastFactor   = 1.0
	mostFactor    = 10.0
)

func newSuggest(s cli.Streams, run func(context.Context, *suggestOptions, cli.Streams) error) *cobra.Command {
	none := cli.Duration{D: cli.None, AllowNone: true}
	o := &suggestOptions{
		measureOptions: measureOptions{
			connect: cli.Duration{D: 5 * time.Second},
			read:    none, attempt: none, pool: none,
			budget:  cli.Duration{D: 10 * time.Second},
			floor:   cli.Duration{D: budgetcaller.DefaultFloor},
			retries: newRetries(),
			format:  cli.Format("table", "json", "csv"),
		},
		now: time.Now,
	}
	cmd := &cobra.Command{
		Use:   "suggest URL",
		Short: "limits from the observed p99, with the line that says why",
		Long: `suggest calls a URL some hundred times and suggests limits from the time that
good calls took: the p99 times --factor, rounded up, at least 10 ms. A p99 of
120 ms gives 300 to 500 ms; ten times the p99 is as good as no limit.
  attempt  from the whole call
  read     from the longest phase of sending or waiting: no silence was longer
  connect  from lookup, TCP and TLS, where 100 calls made a connection of their
           own, as --new-connections has them do
  floor    the p90 of the whole call: 9 of 10 calls are done in that

Each comes with its reason (source, p99, factor, date, sample size), and one
line each is there to be pasted into files of caller layers and caller screen.
Good is a call that is ok. One that --budget ended counts as slower than all
good ones; what else failed is counted by class and left out. Fewer than 100
calls, or a p99 beyond --budget, and nothing is suggested.

The figures are those of this moment, from here, with -c calls at a time:
measure where the service runs, in a busy hour.

--format json prints one object (schema caller.suggest/1), csv one row a limit.
Caps: on loopback 100000 calls and 1000 at a time, elsewhere 300 and 4.
Exit codes: 0 suggested, 1 too few good calls, 2 wrong usage, 130 interrupted.`,
		Example: `  caller suggest http://127.0.0.1:8080/
  caller suggest http://127.0.0.1:8080/ -n 500 -c 4 --factor 4
  caller suggest http://127.0.0.1:8080/ --new-connections --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.urls = args
			o.dataSet = cmd.Flags().Changed("data")
			if err := o.check(s); err != nil {
				return err
			}
			return run(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVarP(&o.runs, "runs", "n", 200, "`N` calls")
	f.IntVarP(&o.parallel, "concurrency", "c", 1, "`N` of them at a time")
	f.Float64Var(&o.factor, "factor", defaultFactor, "limits are `N` times the p99")
	f.BoolVar(&o.newConns, "new-connections", false, "a connection of its own for each call")
	f.Var(&o.interval, "interval", "least time from one start to the next")
	f.Var(&o.budget, "budget", "longest that one call may take")
	f.Var(&o.connect, "connect-timeout", "longest that connecting may take")
	f.StringVar(&o.method, "method", "", "`method` (default GET, or POST with --data)")
	f.StringArrayVar(&o.headers, "header", nil, "header `'Name: value'`, may be repeated")
	f.StringVar(&o.data, "data", "", "`body` to send: text, @file, or - for stdin")
	f.Var(&o.format, "format", "how it is printed")
	f.StringVar(&o.caFile, "ca", "", "PEM `file` of the authorities to trust")
	f.BoolVar(&o.insecure, "insecure", false, "accept any certificate")
	return cmd
}

// check completes the options; every error is one of usage.
func (o *suggestOptions) check(s cli.Streams) error {
	switch {
	case len(o.urls) == 0:
		return cli.Usagef("nothing to measure: write a URL, as in: caller suggest http://127.0.0.1:8080/")
	case len(o.urls) > 1:
		return cli.Usagef("%d URLs: limits are suggested for one at a time", len(o.urls))
	case !(o.factor > leastFactor && o.factor < mostFactor): // false for NaN, too
		return cli.Usagef("--factor %v: above %v, or it cuts good calls, and below %v, which is as good as no limit", o.factor, leastFactor, mostFactor)
	case o.runs > 0 && o.runs < p99From:
		return cli.Usagef("-n %d: a p99 needs at least %d calls", o.runs, p99From)
	}
	return o.complete(s.In)
}

// runSuggest measures and prints what follows.
func runSuggest(ctx context.Context, o *suggestOptions, s cli.Streams) error {
	caller, err := budgetcaller.New(o.config())
	if err != nil {
		return cli.Usagef("%w", err)
	}
	defer caller.Close()
	if o.newConns {
		return suggest(ctx, o, freshRunner(o.config()), s)
	}
	return suggest(ctx, o, caller, s)
}

// freshRunner makes each call with a connection of its own.
type freshRunner budgetcaller.Config

// Run makes one call.
func (r freshRunner) Run(ctx context.Context, req *http.Request, sink io.Writer) (budgetcaller.Result, error) {
	caller, err := budgetcaller.New(budgetcaller.Config(r))
	if err != nil {
		return budgetcaller.Result{}, err
	}
	defer caller.Close()
	return caller.Run(ctx, req, sink)
}

func suggest(ctx context.Context, o *suggestOptions, calls runner, s cli.Streams) error {
	r := &suggestReport{opts: o, out: s.Out}
	m := &series{opts: &o.measureOptions, runner: calls, warn: s.Err, report: r}
	return cmp.Or(m.all(ctx, s), r.refusal())
}

// suggestReport gathers measurements and prints what they suggest.
type suggestReport struct {
	opts *suggestOptions
	out  io.Writer
	seen observed
	said suggestion
}

func (r *suggestReport) add(m measurement) error {
	r.seen.add(m)
	return nil
}

func (r *suggestReport) end([]summary) error {
	r.said = r.seen.suggest(r.opts.targets[0], r.opts.factor, r.opts.now(), r.opts.budget.D)
	if r.seen.calls == 0 {
		return nil
	}
	w := &errWriter{w: r.out}
	return errors.Join(r.said.print(w, r.opts), w.err)
}

// refusal says why nothing was suggested, nil if something was.
func (r *suggestReport) refusal() error {
	if r.said.Refused == "" {
		return nil
	}
	return cli.Exit(cli.ExitFailed, fmt.Errorf("nothing to suggest for %s: %s", r.opts.targets[0], r.said.Refused))
}
