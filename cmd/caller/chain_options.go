package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

// chainOptions is what the flags of chain say. complete fills the second half
// from the first.
type chainOptions struct {
	hops, budgets, tries numbers
	cost                 costFlag
	fails                numbers
	policy               cli.Choice
	perTry, ownWork      numbers
	hopBudget            numbers
	backoff, backoffCap  numbers
	jitter               bool
	parallel, permanent  numbers
	stop                 bool
	needs, runs          numbers
	seed                 uint64
	set                  func(flag string) bool // whether it was given
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

// maxRuns is how many runs of all chains together one command makes where they
// are random.
const maxRuns = 1_000_000

func newChainOptions() *chainOptions {
	whole := func(least, most int64, list bool, standard ...int64) numbers {
		return numbers{values: standard, least: least, most: most, list: list}
	}
	const most = deadlinechain.MaxTime
	return &chainOptions{
		hops:       whole(1, deadlinechain.MaxHops, true, 3),
		tries:      whole(1, deadlinechain.MaxTries, true, 3),
		cost:       costFlag{text: "10", usual: 10},
		budgets:    whole(1, most, true, 45),
		fails:      whole(deadlinechain.Always, math.MaxInt64, false, deadlinechain.Always),
		policy:     cli.Choice{Value: allPolicies, Of: append(policyWords(), allPolicies)},
		perTry:     whole(1, most, false),
		ownWork:    whole(0, most, true),
		hopBudget:  whole(1, most, true),
		backoff:    whole(0, most, true),
		backoffCap: whole(1, most, false),
		parallel:   whole(1, deadlinechain.MaxParallel, true),
		permanent:  whole(1, math.MaxInt64, false),
		needs:      whole(1, most, false),
		runs:       whole(1, deadlinechain.MaxRuns, false, 1000),
		seed:       1,
		set:        func(string) bool { return false },
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
	if err := o.perHop(); err != nil {
		return err
	}
	switch {
	case o.tick.IsSet && !o.real:
		return errors.New("--tick without --real: a simulated unit has no length")
	case !slices.ContainsFunc(o.backoff.values, func(n int64) bool { return n > 0 }) && (o.backoffCap.first() > 0 || o.jitter):
		return errors.New("--backoff-cap and --jitter without --backoff: there is no wait")
	case o.needs.first() > 0 && !o.cost.random():
		return errors.New("--needs without a random --cost: hops know what a call takes")
	case o.cost.random() && o.perTry.first() > 0 && !o.set("cost"):
		return errors.New("--per-try without --cost: the leaf uses all that it is given")
	case !o.random() && (o.set("runs") || o.set("seed")):
		return errors.New("--runs and --seed without --jitter or a random --cost: all runs are alike")
	case o.jitter && o.real:
		return errors.New("--real with --jitter: a real hop draws its waits by itself, so they are not the simulated ones")
	case o.real && o.set("runs") && o.runs.first() > 1:
		return fmt.Errorf("--real with --runs %d: a chain is really run once; leave --runs out, and take another --seed for another run", o.runs.first())
	case len(o.hopBudget.values) > 0 && o.set("budget"):
		return errors.New("--hop-budget with --budget: the first of --hop-budget is the entry's")
	case len(o.hopBudget.values) > 0 && o.policy.Value == deadlinechain.None.String():
		return errors.New("--hop-budget with --policy none: nobody has a deadline")
	case o.leafCost() == 0 && !o.stop && o.policy.Value == deadlinechain.None.String():
		return errors.New("--per-try with --policy none: a leaf that uses all that it is given never ends: set --cost, or --stop")
	}
	policies, err := o.policies()
	if err != nil {
		return err
	}
	if len(o.hopBudget.values) > 0 {
		o.budgets.values = o.hopBudget.values[:1]
	}
	n := len(o.hops.values) * len(o.budgets.values) * len(policies)
	switch {
	case n > maxChains:
		return fmt.Errorf("%d chains in one table: at most %d", n, maxChains)
	case o.many() && n*int(o.runs.first()) > maxRuns:
		return fmt.Errorf("%d chains, %d runs of each: at most %d in all", n, o.runs.first(), maxRuns)
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

// perHopFlag is a flag that may have a number for each hop that tries.
type perHopFlag struct {
	name   string
	values *numbers
}

func (o *chainOptions) perHopFlags() []perHopFlag {
	return []perHopFlag{
		{"tries", &o.tries},
		{"own-work", &o.ownWork},
		{"backoff", &o.backoff},
		{"parallel", &o.parallel},
		{"hop-budget", &o.hopBudget},
	}
}

// perHop holds that the flags with a number for each hop are about one chain,
// and makes that the chain.
func (o *chainOptions) perHop() error {
	hops := 0
	var first perHopFlag
	for _, f := range o.perHopFlags() {
		n := len(f.values.values)
		switch {
		case n < 2 || n+1 == hops:
		case n+1 > deadlinechain.MaxHops:
			return fmt.Errorf("--%s has %d numbers: a chain has at most %d hops", f.name, n, deadlinechain.MaxHops)
		case hops > 0:
			return fmt.Errorf("--%s %s is for %d hops, --%s %s for %d: one number for each hop that tries", f.name, f.values.String(), n+1, first.name, first.values.String(), hops)
		case o.set("hops") && !slices.Equal(o.hops.values, []int64{int64(n) + 1}):
			return fmt.Errorf("--%s %s is for %d hops, --hops says %s: leave --hops out", f.name, f.values.String(), n+1, o.hops.String())
		default:
			hops, first = n+1, f
			o.hops.values = []int64{int64(hops)}
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

// leafCost is what the leaf takes, or is taken to take: with --per-try, all that
// it is given, unless --cost is set.
func (o *chainOptions) leafCost() int64 {
	if o.perTry.first() > 0 && !o.set("cost") {
		return 0
	}
	return cmp.Or(o.needs.first(), o.cost.usual)
}

// random says whether no two runs need be alike, many whether there are several.
func (o *chainOptions) random() bool { return o.cost.random() || o.jitter }
func (o *chainOptions) many() bool   { return o.random() && o.runs.first() > 1 && !o.real }

func (o *chainOptions) chain(hops int, budget int64, policy deadlinechain.Policy) deadlinechain.Chain {
	c := deadlinechain.Chain{
		Hops: hops, Tries: int(o.tries.first()), Cost: o.leafCost(), Budget: budget,
		Fails: o.fails.first(), Policy: policy, PerTry: o.perTry.first(),
		Permanent: o.permanent.first(), Stop: o.stop, Trace: traceEvents,
		RandomCost: o.cost.draw, Seed: o.seed,
	}
	if len(o.ownWork.values) == 1 {
		c.Work = o.ownWork.first()
	}
	if len(o.backoff.values) == 1 {
		c.Backoff = o.wait(o.backoff.first())
	}
	if len(o.parallel.values) == 1 {
		c.Parallel = int(o.parallel.first())
	}
	c.PerHop = o.hopSettings(hops)
	return c
}

// hopSettings returns what differs by hop, nil if nothing does.
func (o *chainOptions) hopSettings(hops int) []deadlinechain.Hop {
	var all []deadlinechain.Hop
	own := func(n *numbers, set func(*deadlinechain.Hop, int64)) {
		for i, v := range n.values {
			if len(n.values) < 2 {
				return
			}
			if all == nil {
				all = make([]deadlinechain.Hop, hops-1)
			}
			set(&all[i], v)
		}
	}
	own(&o.tries, func(h *deadlinechain.Hop, n int64) { h.Tries = int(n) })
	own(&o.ownWork, func(h *deadlinechain.Hop, n int64) { h.Work = n })
	own(&o.backoff, func(h *deadlinechain.Hop, n int64) { h.Backoff = o.wait(n) })
	own(&o.parallel, func(h *deadlinechain.Hop, n int64) { h.Parallel = int(n) })
	own(&o.hopBudget, func(h *deadlinechain.Hop, n int64) { h.Budget = n })
	return all
}

func (o *chainOptions) wait(base int64) deadlinechain.Backoff {
	if base == 0 {
		return deadlinechain.Backoff{}
	}
	return deadlinechain.Backoff{Base: base, Cap: o.backoffCap.first(), Jitter: o.jitter}
}
