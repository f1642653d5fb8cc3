package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

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

--hops and --budget take lists and give a row for each. --tries, --own-work,
--backoff, --parallel and --hop-budget may have one number for each hop that
tries, from the entry down. One chain by itself is also drawn on a time line,
with the time that each try was told it has.

A backoff is paid from the budget. A hop asks before it whether the next try
still fits, and does not wait if not. With --per-try a try is started with any
time left, is given that but no more than --per-try, and the leaf uses all of it
unless --cost is set. With --hop-budget each hop has its own under each; under
pass it is the most that the hop takes, whatever it was told.

A random --cost is uniform(LEAST,MOST) or lognormal(p50=N,p99=N); hops then ask
whether --needs fits, by default the middle of it. With that or --jitter a chain
is run --runs times, and the table tells how the runs are spread. The same
--seed gives the same figures; --runs 1 is one run, with its time line.

In the table, elapsed is when all was over, orphaned the work that was started
after the entry had gone, and overlap all work done after that. At one and the
same moment answers come first, then deadlines pass, then calls start: an answer
exactly at the deadline is in time.

--real also starts the chain on loopback, each hop a partner with sockets of its
own, has the entry called once, and reads from the ledgers what happened; both
time lines are drawn, one under the other. A unit is then a --tick long, and
every deadline comes half a tick late, so that what is simulated at one moment
comes in the same order. Where the machine is later than that, the report says
so: take a longer tick. Of limits after which others go on, each --per-try with
them, the half tick is shared. A random --cost is drawn as in the simulation,
call by call, so that the same --seed gives both the same: each chain is run
once. What is only simulated is refused: --jitter, chains of one hop, more than
20 hops, 5000 calls or five minutes, and with --stop or --parallel a try that
would start at the very moment at which its hop ends.

--format json prints one object a run (schema caller.chain/1), with --real
another with source measured and times in ms, and both with their time lines:
spans is every call of every hop, hop by hop, from start to end (start_ms to
end_ms) and how it ended (ok, failed, permanent or stopped), and spans_cut that
there were more. Numbers of simulated time are
whole and exact at any size. calls has how often each hop was called, the entry
first; told, for each hop that tries, what its tries were told (null: nothing),
and told_cut that there were more. leaf_ok counts the leaf's successes: above 0
with ok false, it was done and the entry does not know. Of many runs it prints
caller.chain.runs/1: in how many the entry succeeded, and min, p50, p90, p99,
max and mean of each number (null: too few runs to know).

Exit codes: 0 done, 2 wrong usage or a question too large for the options.`,
		Example: `  caller chain                                the three policies side by side
  caller chain --policy none --hops 2,3,4,5   tries multiply
  caller chain --policy pass --fails 4 --budget 20,40,50,60,100
  caller chain --policy none --tries 3,3,5 --cost 50
  caller chain --hops 2 --budget 250 --per-try 100 --backoff 25 --policy pass
  caller chain --policy each --stop           what telling them to stop saves
  caller chain --cost 'lognormal(p50=10,p99=40)' --fails 2 --budget 30,45,60,100
  caller chain --backoff 5 --jitter --fails 2 --runs 5000 --seed 7
  caller chain --own-work 2,1 --hop-budget 60,20  hops that differ
  caller chain --parallel 3,1                 the entry calls three at once
  caller chain --permanent 2                  no try after a failure for good
  caller chain --real                         simulated and measured
  caller chain --real --cost 'uniform(5,15)' --seed 7 --parallel 2 --fails 3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().NFlag() == 0 {
				fmt.Fprintln(s.Err, "next: caller chain --hops 2,3,4,5, or more in: caller chain --help")
			}
			o.set = cmd.Flags().Changed
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
	f.Var(&o.cost, "cost", "what a call of the leaf takes, or random")
	f.Var(&o.budgets, "budget", "budget; a list: a row each")
	f.Var(&o.fails, "fails", "leaf calls that fail; -1: all")
	f.Var(&o.policy, "policy", "about deadlines")
	f.Var(&o.perTry, "per-try", "most that a try is given (see above)")
	f.Var(&o.backoff, "backoff", "wait after the first try, then doubled")
	f.Var(&o.backoffCap, "backoff-cap", "longest wait")
	f.BoolVar(&o.jitter, "jitter", false, "wait a random part of the backoff")
	f.Var(&o.ownWork, "own-work", "what each hop but the leaf takes too")
	f.Var(&o.hopBudget, "hop-budget", "budget of each hop, not one for all")
	f.Var(&o.parallel, "parallel", "calls a hop makes at once, all needed")
	f.Var(&o.permanent, "permanent", "failures from leaf call N on are final")
	f.BoolVar(&o.stop, "stop", false, "who ends tells those below to stop")
	f.Var(&o.needs, "needs", "what hops take a random --cost to be")
	f.Var(&o.runs, "runs", "runs, if there is anything random")
	f.Uint64Var(&o.seed, "seed", o.seed, "`N` that all random numbers come from")
	f.BoolVar(&o.real, "real", false, "run it on loopback too")
	f.Var(&o.tick, "tick", "length of a unit with --real")
	f.Var(&o.format, "format", "how results are printed")
	return cmd
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
	if o.many() {
		return runManyChains(ctx, o, s)
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
