package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// newMeasure returns "caller measure". run does the work on what the flags say.
func newMeasure(s cli.Streams, run func(context.Context, *measureOptions, cli.Streams) error) *cobra.Command {
	o := &measureOptions{
		connect: cli.Duration{D: budgetcaller.DefaultConnect, AllowNone: true},
		read:    cli.Duration{D: 10 * time.Second, AllowNone: true},
		attempt: cli.Duration{D: cli.None, AllowNone: true},
		pool:    cli.Duration{D: cli.None, AllowNone: true},
		budget:  cli.Duration{D: 30 * time.Second, AllowNone: true},
		floor:   cli.Duration{D: budgetcaller.DefaultFloor},
		retries: newRetries(),
		format:  cli.Format("table", "json", "csv"),
	}
	cmd := &cobra.Command{
		Use:   "measure URL... [--partner ADMIN_URL]",
		Short: "call URLs and say how each call really ended",
		Long: `measure calls each URL and says how the call ended: the class, the phase it was
in, the limit that fired, how long after the limit it was really over, and
whether the partner may have carried it out. A call that fails is a result like
any other: the exit code is 0, unless --expect says what should have come.

Limits take a duration with its unit, such as 300ms or 1.5s. Only the word none
means unlimited.
  connect  from the lookup until TCP, and TLS if asked for, is done
  read     the partner's longest silence; every byte starts it afresh
  attempt  one whole attempt
  pool     the wait for a free connection
  budget   everything together
  floor    not a limit: with less of the budget left, no attempt is started

--format json prints one object a line (schema caller.measure/1), durations in
milliseconds; configured_ms and overshoot_ms are null where no limit ended the
call. Several runs of a URL end with its caller.summary/1 line, in which p90 is
null below 10 runs and p99 below 100.

--attempts N repeats a failure that may pass, within the budget and where doing
it twice does no harm: the effect is none, the method is idempotent, or there is
an Idempotency-Key. Retry-After is obeyed if it fits. What is left of the budget
is sent along (X-Request-Timeout-Ms), the number of the attempt too
(X-Request-Attempt), and an answer may have 16 MiB. class, phase and limit are
then the call's; stopped says why no further attempt was made, and
attempts_detail holds each one with the wait after it (in csv: how many, and
backoff_ms).

--partner asks a partner's admin port for its own record of each call. In JSON,
partner.saw is request, connection (no request came whole), nothing (it never
noticed us) or unknown (it cannot be told); difference_ms is our elapsed time
less the partner's. effect says whether it did the work; effect_pending stands
there instead where we left and it may do it yet. partner is null without
--partner and for URLs not its own.

Caps: on loopback 100000 attempts and 1000 calls at a time, elsewhere 300 and 4.
Exit codes: 0 measured, 1 --expect not met or no partner there, 2 wrong usage,
130 interrupted (what was measured is printed all the same).`,
		Example: `  caller measure http://127.0.0.1:8080/ --read-timeout 500ms
  caller measure http://127.0.0.1:8080/ -n 100 -c 4 --format json | tail -1
  caller measure http://127.0.0.1:8080/ --expect read_timeout,budget_exhausted
  caller measure http://127.0.0.1:8080/ --data @order.json --budget 2s
  caller measure http://127.0.0.1:8080/ --attempts 3 --attempt-timeout 400ms
  caller measure --partner http://127.0.0.1:8079      every listener it has`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.urls = args
			if err := cli.RefuseEmpty(cmd, "expect", "partner", "method", "ca", "proxy"); err != nil {
				return err
			}
			if cmd.Flags().Changed("max-conns") && o.maxConns == 0 {
				return cli.Usagef("--max-conns 0: at least 1, or leave it out for the default")
			}
			o.dataSet = cmd.Flags().Changed("data")
			o.keySet = cmd.Flags().Changed("idempotency-key")
			o.retries.jitterSet = cmd.Flags().Changed("jitter")
			if err := o.complete(s.In); err != nil {
				return err
			}
			return run(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&o.connect, "connect-timeout", "connect limit")
	f.Var(&o.read, "read-timeout", "read limit")
	f.Var(&o.attempt, "attempt-timeout", "attempt limit")
	f.Var(&o.pool, "pool-timeout", "pool limit")
	f.Var(&o.budget, "budget", "budget of one call")
	f.Var(&o.floor, "floor", "budget left, to start at all")
	f.IntVar(&o.retries.attempts, "attempts", 1, "`N` attempts of a call at most")
	f.Var(&o.retries.base, "backoff", "first wait, doubled each time")
	f.Var(&o.retries.cap, "cap", "longest wait")
	f.Var(&o.retries.jitter, "jitter", "what part of a wait is chance")
	f.StringVar(&o.key, "idempotency-key", "", "`key` sent along; auto: a new one for each call")
	f.IntVarP(&o.runs, "runs", "n", 1, "`N` runs of each URL")
	f.IntVarP(&o.parallel, "concurrency", "c", 1, "`N` of them at a time")
	f.Var(&o.interval, "interval", "least time from one start to the next")
	f.StringVar(&o.method, "method", "", "`method` (default GET, or POST with --data)")
	f.StringArrayVar(&o.headers, "header", nil, "header `'Name: value'`, may be repeated")
	f.StringVar(&o.data, "data", "", "`body` to send: text, @file, or - for stdin")
	f.Var(&o.format, "format", "how results are printed")
	f.StringVar(&o.expectList, "expect", "", "`classes` a,b: exit 1 if a run ends otherwise")
	f.StringVar(&o.partner, "partner", "", "admin `URL` of a partner: adds its own record")
	f.IntVar(&o.maxConns, "max-conns", 0, "`N` connections to a host (default 64, or -c)")
	f.IntVar(&o.follow, "follow", 0, "follow up to `N` redirects")
	f.Lookup("follow").NoOptDefVal = "10"
	f.StringVar(&o.proxyWord, "proxy", "", "proxy `URL`, or env for the environment's")
	f.StringVar(&o.caFile, "ca", "", "PEM `file` of the authorities to trust")
	f.BoolVar(&o.insecure, "insecure", false, "accept any certificate")
	return cmd
}
