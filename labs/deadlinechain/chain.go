package deadlinechain

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrInvalid is the error of a Chain that makes no sense; what wraps it says why.
var ErrInvalid = errors.New("not a chain")

// ErrTooLarge is the error of a question that would take too many steps: a
// second or so. It can only come with options, never for the plain chain.
var ErrTooLarge = errors.New("too large to simulate")

// The bounds of a Chain. They keep every sum of times within its type.
const (
	MaxHops     = 1000
	MaxTries    = 1_000_000
	MaxParallel = 1000
	MaxTime     = 1_000_000_000_000 // of each single time
	MaxTrace    = 100_000
)

// Always as Chain.Fails: no call of the leaf ever succeeds.
const Always int64 = -1

// Chain is what is simulated. The first six fields are the plain chain, the
// others are options that are off when they are zero.
type Chain struct {
	Hops   int    // the entry is hop 1, the last hop is the leaf
	Tries  int    // how often one hop tries the next, at least 1
	Cost   int64  // what one call of the leaf takes; only with PerTry it may be 0: all that it is given
	Budget int64  // Each: of every hop from when it is called; Pass: of the entry; None: not used
	Fails  int64  // how many leaf calls fail before the others succeed, or Always
	Policy Policy // what the hops do about deadlines

	// PerTry limits every try: it is given the smaller of PerTry and what is
	// left, is started with anything above 0 left, and is no longer waited for
	// once that is over. Under Each the next hop's own budget is then at most
	// PerTry.
	PerTry int64

	Backoff   Backoff // the wait between two tries, paid from the budget
	Work      int64   // what each hop but the leaf takes by itself before its first try
	Parallel  int     // how many calls a hop makes at once, each with its own tries; it needs all of them. 0: 1
	Permanent int64   // from this leaf call on, counted from 1, a failure is permanent: no hop tries again. 0: never

	// Stop has every hop that ends tell those it called to stop at once, as they
	// tell theirs. Result.Saved says what that saves.
	Stop bool

	// RandomCost draws what a call of the leaf takes. Cost is then what the hops
	// take it to be when they ask whether a try can be done in time.
	RandomCost Draw
	Seed       uint64 // for RandomCost and Backoff.Jitter

	PerHop []Hop // settings that differ: the first is the entry's. It may be shorter than Hops
	Trace  int   // how many events to keep, at most MaxTrace
}

// Hop is what differs for one hop. A zero field means: as the Chain says.
type Hop struct {
	Tries    int
	Budget   int64 // under Pass, behind the entry: the most that the hop takes for itself, whatever it was told
	Work     int64
	Backoff  Backoff
	Parallel int
}

// invalidf returns an error that wraps ErrInvalid.
func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}

// plan is a Chain that has been checked, with every hop's settings filled in.
type plan struct {
	Chain
	hops []hop // by hop-1
}

// hop is what one hop goes by.
type hop struct {
	tries    int
	budget   int64 // the length of its own deadline; forever: none
	work     int64 // not the leaf's
	backoff  Backoff
	parallel int
	need     int64 // the least that a call of it takes
}

func newPlan(c Chain) (*plan, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &plan{Chain: c, hops: make([]hop, c.Hops)}
	need := c.Cost
	for i := c.Hops - 1; i >= 0; i-- {
		h, err := c.settings(i)
		if err != nil {
			return nil, err
		}
		if i == c.Hops-1 {
			h.work = 0
		}
		need += h.work
		h.need = need
		p.hops[i] = h
	}
	if c.Cost == 0 && c.Policy == None && !c.Stop {
		return nil, invalidf("a leaf that uses all it is given never ends under policy %s without Stop", None)
	}
	if c.Cost == 0 && c.Policy == None && c.Hops == 1 {
		return nil, invalidf("a leaf that uses all it is given never ends if it is the entry under policy %s", None)
	}
	return p, nil
}

func (c Chain) check() error {
	switch {
	case c.Hops < 1 || c.Hops > MaxHops:
		return invalidf("hops %d: want 1 to %d", c.Hops, MaxHops)
	case c.Policy > Pass:
		return invalidf("no %s", c.Policy)
	case c.Fails < Always:
		return invalidf("fails %d: want 0 or more, or %d for always", c.Fails, Always)
	case c.PerTry < 0 || c.PerTry > MaxTime:
		return invalidf("per try %d: want 1 to %d, or 0 for none", c.PerTry, int64(MaxTime))
	case c.Cost < 0 || c.Cost > MaxTime || c.Cost == 0 && (c.PerTry == 0 || c.RandomCost != nil):
		return invalidf("cost %d: want 1 to %d", c.Cost, int64(MaxTime))
	case c.Budget < 0 || c.Budget > MaxTime:
		return invalidf("budget %d: want 1 to %d", c.Budget, int64(MaxTime))
	case c.Permanent < 0:
		return invalidf("permanent from leaf call %d: calls count from 1", c.Permanent)
	case c.Trace < 0 || c.Trace > MaxTrace:
		return invalidf("trace of %d events: want at most %d", c.Trace, MaxTrace)
	case len(c.PerHop) > c.Hops:
		return invalidf("settings for %d hops, but there are %d", len(c.PerHop), c.Hops)
	}
	return nil
}

// settings returns what hop i+1 goes by, but for its need.
func (c Chain) settings(i int) (hop, error) {
	var own Hop
	if i < len(c.PerHop) {
		own = c.PerHop[i]
	}
	h := hop{
		tries:    cmp.Or(own.Tries, c.Tries),
		budget:   cmp.Or(own.Budget, c.Budget),
		work:     cmp.Or(own.Work, c.Work),
		backoff:  cmp.Or(own.Backoff, c.Backoff),
		parallel: cmp.Or(own.Parallel, c.Parallel, 1),
	}
	leaf := i > 0 && i == c.Hops-1
	switch {
	case !leaf && (h.tries < 1 || h.tries > MaxTries):
		return h, invalidf("hop %d: tries %d: want 1 to %d", i+1, h.tries, MaxTries)
	case h.work < 0 || h.work > MaxTime:
		return h, invalidf("hop %d: work %d: want 0 to %d", i+1, h.work, int64(MaxTime))
	case h.parallel < 1 || h.parallel > MaxParallel:
		return h, invalidf("hop %d: %d calls at once: want 1 to %d", i+1, h.parallel, MaxParallel)
	case own.Budget < 0 || own.Budget > MaxTime:
		return h, invalidf("hop %d: budget %d: want 1 to %d", i+1, own.Budget, int64(MaxTime))
	case h.budget == 0 && (c.Policy == Each || c.Policy == Pass && i == 0):
		return h, invalidf("hop %d: policy %s needs a budget of 1 to %d", i+1, c.Policy, int64(MaxTime))
	}
	if err := h.backoff.check(); err != nil {
		return h, fmt.Errorf("hop %d: %w", i+1, err)
	}
	if c.Policy == None || c.Policy == Pass && i > 0 && own.Budget == 0 {
		h.budget = forever
	}
	return h, nil
}

// told returns the length of the deadline that hop i+1 goes by when who called
// it gives the try the time given: forever if none.
func (p *plan) told(i int, given int64) int64 {
	switch {
	case p.Policy == None:
		return forever
	case p.Policy == Each && i > 0 && p.PerTry > 0:
		return min(p.hops[i].budget, p.PerTry)
	case p.Policy == Each || i == 0:
		return p.hops[i].budget
	}
	return min(p.hops[i].budget, given)
}

// perTry is the most that a try is given; forever if it is not limited.
func (p *plan) perTry() int64 {
	if p.PerTry == 0 {
		return forever
	}
	return p.PerTry
}

// least is the least time left with which hop i+1 may be called.
func (p *plan) least(i int) int64 {
	if p.PerTry > 0 {
		return 1
	}
	return p.hops[i].need
}
