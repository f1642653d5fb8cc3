package deadlinechain

import (
	"errors"
	"fmt"
	"math/big"
)

// Result is how a chain went. Counts and times are of any size and exact; they
// are the caller's own. Times count from the moment at which the entry is called.
type Result struct {
	OK        bool       // the entry got its answer in time, and it was a success
	LeafCalls *big.Int   // how often the leaf began to work
	LeafOK    *big.Int   // how often it succeeded, whether anybody heard of it or not
	Calls     []*big.Int // how often each hop was called: the first is the entry, always 1
	AllCalls  *big.Int   // every try that a hop sent, and the leaf's calls once more

	Elapsed *big.Int // when all was over: the entry had ended and the last work too
	Entry   *big.Int // when the entry ended: it had its answer or gave up

	Work            *big.Int // all the time that hops worked, added up
	Orphaned        *big.Int // of Work, what was started after the entry had ended
	OrphanedOverlap *big.Int // of Work, all that was done after the entry had ended

	// Saved is, with Stop, how much more Work there is without it; else nil, and
	// also nil if that would never end. It may be below zero, where the work that
	// was stopped would have been a success.
	Saved *big.Int

	Trace Trace // as many events as Chain.Trace asks for
}

// Simulate plays the chain once. Its error wraps ErrInvalid or ErrTooLarge.
func Simulate(c Chain) (Result, error) {
	p, err := newPlan(c)
	if err != nil {
		return Result{}, err
	}
	r, err := p.result(c.Seed)
	if err != nil {
		return Result{}, err
	}
	if c.Stop {
		c.Stop, c.Trace = false, 0
		without, err := Simulate(c)
		switch {
		case errors.Is(err, ErrInvalid):
			return r, nil
		case err != nil:
			return Result{}, fmt.Errorf("without Stop: %w", err)
		}
		r.Saved = minus(without.Work, r.Work)
	}
	return r, nil
}

// result works the chain out if it can be, and else plays it.
func (p *plan) result(seed uint64) (Result, error) {
	if !p.random() {
		r, err := p.solve()
		if err == nil && p.Trace > 0 {
			r.Trace = newPlay(p, seed).prefix()
		}
		if !errors.Is(err, errPlay) {
			return r, err
		}
	}
	return newPlay(p, seed).whole()
}

// random says whether the course of the chain depends on the seed.
func (p *plan) random() bool {
	if p.RandomCost != nil {
		return true
	}
	for _, h := range p.hops {
		if h.backoff.Jitter {
			return true
		}
	}
	return false
}

// whyPlayed says what keeps the chain from being worked out.
func (p *plan) whyPlayed() string {
	switch {
	case p.RandomCost != nil:
		return "a random cost"
	case p.random():
		return "jitter"
	}
	_, turns := p.turning()
	for _, h := range p.hops {
		if h.parallel > 1 && turns {
			return "calls at once, and a leaf of which some calls go otherwise than the others,"
		}
	}
	return "options under which hardly two calls are alike"
}

// fewer says what makes a chain that is too large smaller.
func (p *plan) fewer() string {
	if p.Policy == None {
		return "take fewer hops or tries"
	}
	return "take fewer hops or tries, or a smaller budget"
}
