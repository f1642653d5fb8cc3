package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/storm"
)

// stormOptions is what the flags of storm say. complete fills the second half
// from the first.
type stormOptions struct {
	instances, rate, attempts  numbers
	policies                   policyList
	attempt, patience          cli.Duration
	healthy, failure, recovery cli.Duration
	usual, failing             string
	url                        string // empty: its own partner, or the listener of partner
	partner, listener          string
	allowRemote                bool
	seed                       uint64
	format                     cli.Choice

	runs []storm.Config // one a policy, without their partners
}

// newStorm returns "caller storm". run does the work on what the flags say.
func newStorm(s cli.Streams, run func(context.Context, *stormOptions, cli.Streams) error) *cobra.Command {
	o := newStormOptions()
	cmd := &cobra.Command{
		Use:   "storm [URL]",
		Short: "retries under load: what they do to a partner that fails",
		Long: `storm makes the load of many instances that call one partner, lets the partner
fail for a while, and measures what arrives there: 20 instances x 100 calls/s
x 5 attempts are up to 10000 requests/s. By default the partner is one of its
own, which could take twice the calls, with a queue that holds what it does in a
second. It fails by being ten times as slow.

--policy says what an instance does when an attempt fails; each adds something
to the one before it. Several, or all, are run one after the other and compared.
  none      tries again at once
  backoff   waits 100 ms, then 200 ms, ... up to 1 s
  jitter    waits a random part of that
  throttle  and retries no more than a tenth of its calls
  breaker   and stops calling for 1 s while half of its calls fail
  deadline  and gives a call no more than --patience, attempts and waits
            together, and passes that down: the partner then throws out of its
            queue what nobody waits for

The load is open: a call is made when it is due, whether or not those before it
were answered, and what it took counts from when it was due. A call is good if
it was answered within --patience. Recovered is when 9 of 10 calls are good
again, and stay so for a second. Orphaned work is what the partner did for
clients that had left.

What the partner gets is what it counted, its peak where runs are compared.
first and retried are what was sent; unaccounted, in JSON, is the difference.
--format json prints one object a run (schema caller.storm/1), csv one row a
second.

With a URL it is that which is called, as it is. Nobody breaks it: storm says
when its failure is due and when it is over, for you to do it. What was sent is
known then and what came of it, not what arrived, nor orphaned work. --partner
is the admin URL of a running partner: one of its listeners is called, or what
the URL says, broken with --failing and healed, and it counts what arrives.
Loopback only, unless --allow-remote says otherwise. At most 50000 requests/s,
500000 calls and 5 minutes a run.

Exit codes: 0 measured, 1 an error, 2 wrong usage, 130 interrupted (what was
measured is printed all the same).`,
		Example: `  caller storm                                 second by second
  caller storm --policy all                    the policies compared: a minute
  caller storm --policy none,deadline --failure 1s --recovery 4s
  caller storm --failing status --recovery 2s  an outage, answered at once
  caller storm --instances 5 --rate 20 --policy jitter --format json
  caller storm http://127.0.0.1:8080/ --rate 20    a service of your own
  caller storm --partner http://127.0.0.1:8079 --failing status
  caller storm slow-partner                    one slow partner, a whole service`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.url = args[0]
			}
			if err := o.complete(); err != nil {
				return cli.Usagef("%w", err)
			}
			if cmd.Flags().NFlag() == 0 && o.url == "" {
				fmt.Fprintf(s.Err, "this takes %v; next: caller storm --policy all, or more in: caller storm --help\n", o.runs[0].Length())
			}
			return run(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&o.instances, "instances", "instances that call")
	f.Var(&o.rate, "rate", "calls/s of each")
	f.Var(&o.attempts, "attempts", "attempts of a call at most")
	f.Var(&o.policies, "policy", "policies, with commas, or all")
	f.Var(&o.attempt, "attempt-timeout", "limit of an attempt")
	f.Var(&o.patience, "patience", "how long a call is waited for")
	f.Var(&o.healthy, "healthy", "so long it is well at first")
	f.Var(&o.failure, "failure", "then it fails so long")
	f.Var(&o.recovery, "recovery", "then it is well so long")
	f.StringVar(&o.usual, "usual", "", "`fault` that its own partner has when well")
	f.StringVar(&o.failing, "failing", "", "`fault` that the partner fails with")
	f.StringVar(&o.partner, "partner", "", "admin `URL` of a partner to call instead")
	f.StringVar(&o.listener, "listener", "", "`name` of its listener (default: the only one)")
	f.BoolVar(&o.allowRemote, "allow-remote", false, "the partner may be on another machine")
	f.Uint64Var(&o.seed, "seed", 0, "`N` the jitter comes from (default: random)")
	f.Var(&o.format, "format", "how results are printed")
	cmd.AddCommand(newStormSlow(s, runStormSlow))
	return cmd
}

func newStormOptions() *stormOptions {
	standard, _ := storm.Config{Partner: remotePartner{}}.Complete() // what is zero cannot be wrong
	number := func(n, most int) numbers {
		return numbers{values: []int64{int64(n)}, least: 1, most: int64(most)}
	}
	return &stormOptions{
		instances: number(standard.Instances, storm.MaxInstances),
		rate:      number(standard.Rate, storm.MaxRate),
		attempts:  number(standard.Attempts, storm.MaxAttempts),
		policies:  policyList{standard.Policy},
		attempt:   cli.Duration{D: standard.Attempt},
		patience:  cli.Duration{D: standard.Patience},
		healthy:   cli.Duration{D: standard.Healthy},
		failure:   cli.Duration{D: standard.Failure},
		recovery:  cli.Duration{D: standard.Recovery},
		format:    cli.Format("table", "json", "csv"),
	}
}

// complete makes the runs that the flags ask for. Every error is one of usage.
func (o *stormOptions) complete() error {
	switch {
	case o.url != "" && o.listener != "":
		return errors.New("--listener with a URL: the URL says which")
	case o.url != "" && o.partner == "" && o.failing != "":
		return errors.New("--failing with a URL alone: only a partner can be broken: add --partner with its admin URL")
	case o.partner == "" && o.listener != "":
		return errors.New("--listener without --partner: there is one partner, its own")
	case o.partner == "" && o.url == "" && o.allowRemote:
		return errors.New("--allow-remote without --partner or a URL: its own partner is on loopback")
	case (o.partner != "" || o.url != "") && o.usual != "":
		return errors.New("--usual with --partner or a URL: it is called as it is")
	case o.partner != "" && o.url == "" && o.failing == "":
		return errors.New("--partner without --failing: say how it is to fail, as in --failing status")
	}
	if err := o.checkURL(); err != nil {
		return err
	}
	for _, p := range o.policies {
		cfg, err := storm.Config{
			Instances: int(o.instances.first()), Rate: int(o.rate.first()), Attempts: int(o.attempts.first()), Policy: p,
			Attempt: o.attempt.D, Patience: o.patience.D,
			Healthy: o.healthy.D, Failure: o.failure.D, Recovery: o.recovery.D,
			Partner: remotePartner{}, // until there is one
			Seed:    o.seed,
		}.Complete()
		if err != nil {
			return err
		}
		o.runs = append(o.runs, cfg)
	}
	return checkFaults(o.usual, o.failing)
}

// policyList is a flag value that takes policies with commas between them, or
// all.
type policyList []storm.Policy

// Set implements pflag.Value.
func (l *policyList) Set(text string) error {
	if text == allPolicies {
		*l = storm.Policies()
		return nil
	}
	var all []storm.Policy
	for word := range strings.SplitSeq(text, ",") {
		var p storm.Policy
		if err := p.UnmarshalText([]byte(strings.TrimSpace(word))); err != nil {
			return fmt.Errorf("%w, or all", err)
		}
		if slices.Contains(all, p) {
			return fmt.Errorf("%s is there twice", p)
		}
		all = append(all, p)
	}
	*l = all
	return nil
}

// String implements pflag.Value.
func (l *policyList) String() string {
	words := make([]string, len(*l))
	for i, p := range *l {
		words[i] = p.String()
	}
	return strings.Join(words, ",")
}

// Type implements pflag.Value: it is what --help shows behind the flag.
func (l *policyList) Type() string { return "WORDS" }

// runStorm makes the runs and prints what came of them.
func runStorm(ctx context.Context, o *stormOptions, s cli.Streams) error {
	seconds := 0
	for _, cfg := range o.runs {
		seconds += int((cfg.Length() + time.Second - 1) / time.Second)
	}
	bar := s.Err
	if o.url != "" && o.failing == "" {
		bar = io.Discard // there is something to be said meanwhile
	}
	progress := cli.NewProgress(bar, seconds, "storm, seconds")
	defer progress.Close()
	var runs []stormRun
	for _, cfg := range o.runs {
		cfg.Second = func(sec storm.Second) {
			if sec.Phase < storm.Ending {
				progress.Add(1)
			}
		}
		r, err := o.one(ctx, cfg, s.Err)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			runs = append(runs, r)
		}
		if ctx.Err() != nil {
			break
		}
	}
	progress.Close()
	w := &errWriter{w: s.Out}
	if err := errors.Join(reportStorm(w, o, runs), w.err); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted in run %d of %d: the figures are those up to then", min(len(runs), len(o.runs)), len(o.runs)))
	}
	return nil
}
