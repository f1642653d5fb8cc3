package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

// chainOptions is what the flags of chain say. complete fills the second half
// from the first.
type chainOptions struct {
	hops, budgets, tries numbers
	cost, fails          numbers
	policy               cli.Choice
	perTry, ownWork      numbers
	backoff, backoffCap  numbers
	parallel, permanent  numbers
	stop                 bool
	hopsSet, costSet     bool
	real                 bool
	tick                 cli.Duration
	format               cli.Choice

	noneLeftOut bool                  // of all policies
	chains      []deadlinechain.Chain // one a run, in the order of the report
}

// allPolicies is the word of --policy that compares them.
const allPolicies = "all"

// maxChains is how many runs one command makes.
const maxChains = 1000

// newChain returns "caller chain". run does the work on what the flags say.
func newChain(s cli.Streams, run func(context.Context, *chainOptions, cli.Streams) error) *cobra.Command {
	o := newChainOptions()
	cmd := &cobra.Command{
		Use:   "chain",
		Short: "how retries multiply along a chain, and what a deadline saves",
		Long: `chain simulates services that each call the next and try again when it fails.
The entry is hop 1; the last hop, the leaf, does the work and takes --cost a
call. Time is simulated, in plain numbers: read them as ms, or as what you like.

  none   no deadline: every layer of tries multiplies the calls of the leaf
  each   every hop starts a --budget of its own when it is called: it works on
         after who called it has gone, and nobody above can see that
  pass   the entry's deadline is handed down as a point in time: nobody starts
         what cannot be done by then

--hops and --budget take lists and give a row for each, --tries may be one
number for each hop that tries, from the entry down. One chain by itself is also
drawn on a time line, with the time that each try was told it has.

A backoff is paid from the budget. A hop asks before it whether the next try
still fits, and does not wait if not. With --per-try a try is started with any
time left, is given that but no more than --per-try, and the leaf uses all of it
unless --cost is set.

In the table, elapsed is when all was over, orphaned the work that was started
after the entry had gone, and overlap all work done after that. At one and the
same moment answers come first, then deadlines pass, then calls start: an answer
exactly at the deadline is in time.

--real also starts the chain on loopback, each hop a partner with sockets of its
own, has the entry called once, and reads from the ledgers what happened. A unit
is then a --tick long, and every deadline comes half a tick late, so that what
is simulated at one moment comes in the same order. Where the machine is later
than that, the report says so: take a longer tick.

--format json prints one object a run (schema caller.chain/1), with --real
another with source measured and times in ms. Numbers of simulated time are
whole and exact at any size. calls has how often each hop was called, the entry
first; told, for each hop that tries, what its tries were told (null: nothing),
and told_cut that there were more. leaf_ok counts the leaf's successes: above 0
with ok false, it was done and the entry does not know.

Exit codes: 0 done, 2 wrong usage or a question too large for the options.`,
		Example: `  caller chain                                the three policies side by side
  caller chain --policy none --hops 2,3,4,5   tries multiply
  caller chain --policy pass --fails 4 --budget 20,40,50,60,100
  caller chain --policy none --tries 3,3,5 --cost 50
  caller chain --hops 2 --budget 250 --per-try 100 --backoff 25 --policy pass
  caller chain --policy each --stop           what telling them to stop saves
  caller chain --real                         simulated and measured`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().NFlag() == 0 {
				fmt.Fprintln(s.Err, "next: caller chain --hops 2,3,4,5, or more in: caller chain --help")
			}
			o.hopsSet, o.costSet = cmd.Flags().Changed("hops"), cmd.Flags().Changed("cost")
			if err := o.complete(); err != nil {
				return cli.Usagef("%w", err)
			}
			if o.noneLeftOut {
				fmt.Fprintln(s.Err, "policy none is left out: without a deadline, a leaf that uses all it is given never ends")
			}
			return run(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&o.hops, "hops", "hops in all; a list: a row each")
	f.Var(&o.tries, "tries", "tries of every hop, or of each")
	f.Var(&o.cost, "cost", "what a call of the leaf takes")
	f.Var(&o.budgets, "budget", "budget; a list: a row each")
	f.Var(&o.fails, "fails", "leaf calls that fail; -1: all")
	f.Var(&o.policy, "policy", "about deadlines")
	f.Var(&o.perTry, "per-try", "most that a try is given (see above)")
	f.Var(&o.backoff, "backoff", "wait after the first try, then doubled")
	f.Var(&o.backoffCap, "backoff-cap", "longest wait")
	f.Var(&o.ownWork, "own-work", "what each hop but the leaf takes too")
	f.Var(&o.parallel, "parallel", "calls a hop makes at once, all needed")
	f.Var(&o.permanent, "permanent", "failures from leaf call N on are final")
	f.BoolVar(&o.stop, "stop", false, "who ends tells those below to stop")
	f.BoolVar(&o.real, "real", false, "run it on loopback too")
	f.Var(&o.tick, "tick", "length of a unit with --real")
	f.Var(&o.format, "format", "how results are printed")
	return cmd
}

func newChainOptions() *chainOptions {
	whole := func(least, most int64, list bool, standard ...int64) numbers {
		return numbers{values: standard, least: least, most: most, list: list}
	}
	const most = deadlinechain.MaxTime
	return &chainOptions{
		hops:       whole(1, deadlinechain.MaxHops, true, 3),
		tries:      whole(1, deadlinechain.MaxTries, true, 3),
		cost:       whole(1, most, false, 10),
		budgets:    whole(1, most, true, 45),
		fails:      whole(deadlinechain.Always, math.MaxInt64, false, deadlinechain.Always),
		policy:     cli.Choice{Value: allPolicies, Of: append(policyWords(), allPolicies)},
		perTry:     whole(1, most, false),
		backoff:    whole(1, most, false),
		backoffCap: whole(1, most, false),
		ownWork:    whole(1, most, false),
		parallel:   whole(1, deadlinechain.MaxParallel, false),
		permanent:  whole(1, math.MaxInt64, false),
		tick:       cli.Duration{D: 10 * time.Millisecond},
		format:     cli.Format("table", "json", "csv"),
	}
}

func policyWords() []string {
	var words []string
	for _, p := range deadlinechain.Policies() {
		words = append(words, p.String())
	}
	return words
}

// complete makes the chains that the flags ask for. Every error is one of usage.
func (o *chainOptions) complete() error {
	switch {
	case len(o.tries.values) > 1 && !o.hopsSet:
		o.hops.values = []int64{int64(len(o.tries.values)) + 1}
	case len(o.tries.values) > 1 && !slices.Equal(o.hops.values, []int64{int64(len(o.tries.values)) + 1}):
		return fmt.Errorf("--tries %s is for %d hops, --hops says %s: leave --hops out", o.tries.String(), len(o.tries.values)+1, o.hops.String())
	case o.tick.IsSet && !o.real:
		return errors.New("--tick without --real: a simulated unit has no length")
	case o.backoff.first() == 0 && o.backoffCap.first() > 0:
		return errors.New("--backoff-cap without --backoff: there is no wait to cap")
	}
	policies, err := o.policies()
	if err != nil {
		return err
	}
	if n := len(o.hops.values) * len(o.budgets.values) * len(policies); n > maxChains {
		return fmt.Errorf("%d chains in one table: at most %d", n, maxChains)
	}
	for _, hops := range o.hops.values {
		for _, budget := range o.budgets.values {
			for _, policy := range policies {
				o.chains = append(o.chains, o.chain(int(hops), budget, policy))
			}
		}
	}
	return nil
}

func (o *chainOptions) policies() ([]deadlinechain.Policy, error) {
	all := deadlinechain.Policies()
	if o.policy.Value != allPolicies {
		var p deadlinechain.Policy
		err := p.UnmarshalText([]byte(o.policy.Value))
		return []deadlinechain.Policy{p}, err
	}
	if o.leafCost() == 0 && !o.stop {
		o.noneLeftOut = true
		all = slices.DeleteFunc(all, func(p deadlinechain.Policy) bool { return p == deadlinechain.None })
	}
	return all, nil
}

// leafCost is what the leaf takes: with --per-try, all that it is given, unless
// --cost is set.
func (o *chainOptions) leafCost() int64 {
	if o.perTry.first() > 0 && !o.costSet {
		return 0
	}
	return o.cost.first()
}

func (o *chainOptions) chain(hops int, budget int64, policy deadlinechain.Policy) deadlinechain.Chain {
	c := deadlinechain.Chain{
		Hops: hops, Tries: int(o.tries.first()), Cost: o.leafCost(), Budget: budget,
		Fails: o.fails.first(), Policy: policy, PerTry: o.perTry.first(),
		Backoff: deadlinechain.Backoff{Base: o.backoff.first(), Cap: o.backoffCap.first()},
		Work:    o.ownWork.first(), Parallel: int(o.parallel.first()), Permanent: o.permanent.first(),
		Stop: o.stop, Trace: traceEvents,
	}
	if len(o.tries.values) > 1 {
		for _, n := range o.tries.values {
			c.PerHop = append(c.PerHop, deadlinechain.Hop{Tries: int(n)})
		}
	}
	return c
}

// chainRun is a chain and how it went.
type chainRun struct {
	source string
	chain  deadlinechain.Chain
	deadlinechain.Result
}

// simulated is the source of what no clock has measured.
const simulated = "simulated"

func runChain(ctx context.Context, o *chainOptions, s cli.Streams) error {
	if o.real {
		return runRealChain(ctx, o, s)
	}
	var runs []chainRun
	for _, c := range o.chains {
		if ctx.Err() != nil {
			return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted after %d of %d chains", len(runs), len(o.chains)))
		}
		r, err := deadlinechain.Simulate(c)
		if err != nil {
			return cli.Usagef("chain of %d hops, policy %s: %w", c.Hops, c.Policy, err)
		}
		runs = append(runs, chainRun{simulated, c, r})
	}
	w := &errWriter{w: s.Out}
	if err := reportChains(w, o, runs); err != nil {
		return err
	}
	return w.err
}
