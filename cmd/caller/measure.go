package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
)

// newMeasure returns "caller measure". run does the work on what the flags say.
func newMeasure(s cli.Streams, run func(context.Context, *measureOptions, cli.Streams) error) *cobra.Command {
	o := &measureOptions{
		connect: cli.Duration{D: time.Second, AllowNone: true},
		read:    cli.Duration{D: 10 * time.Second, AllowNone: true},
		attempt: cli.Duration{D: cli.None, AllowNone: true},
		pool:    cli.Duration{D: cli.None, AllowNone: true},
		budget:  cli.Duration{D: 30 * time.Second, AllowNone: true},
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

--format json prints one object a line (schema caller.measure/1), durations in
milliseconds; configured_ms and overshoot_ms are null where no limit of ours
fired. After more than one run of a URL a caller.summary/1 line follows.

--partner asks a partner's admin port for its own record of each call:
"partner" is then {"saw":"request",…}, "connection" (no request came whole),
"nothing" (it never noticed us) or "unknown" (it cannot be told); it is null
without --partner and for a URL that is not the partner's.
difference_ms is our elapsed time less the partner's.`,
		Example: `  caller measure http://127.0.0.1:8080/ --read-timeout 500ms
  caller measure http://127.0.0.1:8080/ -n 100 -c 4 --format json | tail -1
  caller measure http://127.0.0.1:8080/ --expect read_timeout,budget_exhausted
  caller measure http://127.0.0.1:8080/ --data @order.json --budget 2s
  caller measure --partner http://127.0.0.1:8079      every listener it has`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.urls = args
			o.dataSet = cmd.Flags().Changed("data")
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
	f.IntVarP(&o.runs, "runs", "n", 1, "runs of each URL")
	f.IntVarP(&o.parallel, "concurrency", "c", 1, "runs at a time")
	f.Var(&o.interval, "interval", "time from one start to the next at least")
	f.StringVar(&o.method, "method", "", "method (default GET, or POST with --data)")
	f.StringArrayVar(&o.headers, "header", nil, "'Name: value', may be repeated")
	f.StringVar(&o.data, "data", "", "body to send: the text, @file, or - for stdin")
	f.Var(&o.format, "format", "how results are printed")
	f.StringVar(&o.expectList, "expect", "", "exit 1 if a run ends in none of these classes")
	f.StringVar(&o.partner, "partner", "", "the partner's admin URL: adds its own record")
	f.IntVar(&o.maxConns, "max-conns", 0, "connections to one host (default 64, or -c if more)")
	f.IntVar(&o.follow, "follow", 0, "follow redirects, up to 10 or =N")
	f.Lookup("follow").NoOptDefVal = "10"
	f.StringVar(&o.proxyWord, "proxy", "", "proxy URL, or env for the environment's")
	f.StringVar(&o.caFile, "ca", "", "PEM file of the authorities to trust")
	f.BoolVar(&o.insecure, "insecure", false, "accept any certificate")
	return cmd
}
