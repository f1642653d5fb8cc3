package realchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"chaoslab/faults"
	"chaoslab/internal/chainhop"
	"chaoslab/labs/deadlinechain"
)

// ErrUnsupported is the error of a chain that can only be simulated; what wraps
// it says why.
var ErrUnsupported = errors.New("only simulated")

// The bounds of a Run, so that a mistyped number does not load the machine.
const (
	MinTick  = time.Millisecond
	MaxTick  = time.Second
	MaxHops  = 20
	MaxTries = 100
	MaxCalls = 5000            // of all hops together
	MaxTime  = 5 * time.Minute // of the whole run
)

// Run is a chain that can be measured. It is immutable.
type Run struct {
	Chain     deadlinechain.Chain
	Tick      time.Duration        // one unit of the chain's time
	Simulated deadlinechain.Result // what is to come of it
}

// New checks a chain and simulates it. Its error wraps ErrUnsupported, or one of
// deadlinechain.
func New(c deadlinechain.Chain, tick time.Duration) (*Run, error) {
	if tick < MinTick || tick > MaxTick || tick%time.Millisecond != 0 {
		return nil, fmt.Errorf("%w: a unit of %v: want whole milliseconds from %v to %v", ErrUnsupported, tick, MinTick, MaxTick)
	}
	if why := unsupported(c); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, why)
	}
	simulated, err := deadlinechain.Simulate(c)
	if err != nil {
		return nil, err
	}
	r := &Run{Chain: c, Tick: tick, Simulated: simulated}
	switch most := big.NewInt(int64(MaxTime / tick)); {
	case simulated.AllCalls.Cmp(big.NewInt(MaxCalls)) > 0:
		return nil, fmt.Errorf("%w: %v calls in all: at most %d are really made", ErrUnsupported, simulated.AllCalls, MaxCalls)
	case simulated.Elapsed.Cmp(most) > 0:
		return nil, fmt.Errorf("%w: %v units of %v: a real run takes at most %v", ErrUnsupported, simulated.Elapsed, tick, MaxTime)
	}
	all := []int64{c.Cost}
	for hop := 1; hop < c.Hops; hop++ {
		h := r.settings(hop)
		all = append(all, h.Budget, h.Work, h.Backoff.Base, h.Backoff.Cap)
	}
	for _, units := range all {
		if units > int64(faults.MaxDelay/tick)-1 {
			return nil, fmt.Errorf("%w: %d units of %v: a time of a real chain is at most %v", ErrUnsupported, units, tick, faults.MaxDelay)
		}
	}
	return r, nil
}

// unsupported says what of c no real hop can do; empty if there is nothing.
func unsupported(c deadlinechain.Chain) string {
	switch {
	case c.Hops < 2 || c.Hops > MaxHops:
		return fmt.Sprintf("%d hops: a real chain has 2 to %d", c.Hops, MaxHops)
	case c.Tries > MaxTries:
		return fmt.Sprintf("%d tries: a real hop makes at most %d", c.Tries, MaxTries)
	case c.PerTry > 0:
		return "a limit of each try"
	case c.Parallel > 1:
		return "calls at once"
	case c.Stop:
		return "telling those below to stop"
	case c.RandomCost != nil || c.Backoff.Jitter:
		return "a random cost or jitter"
	}
	for i, h := range c.PerHop {
		switch {
		case h.Tries > MaxTries:
			return fmt.Sprintf("%d tries of hop %d: a real hop makes at most %d", h.Tries, i+1, MaxTries)
		case h.Parallel > 1:
			return "calls at once"
		case h.Backoff.Jitter:
			return "jitter"
		case i == c.Hops-1 && h.Budget > 0, c.Policy == deadlinechain.Each && h.Budget > 0 && c.Budget < c.Cost:
			return "a budget of the leaf" // which works on whatever it is told
		}
	}
	return ""
}

// Late is how much later than simulated every deadline comes.
func (r *Run) Late() time.Duration { return r.Tick / 2 }

// Takes is how long the run takes if all goes as simulated.
func (r *Run) Takes() time.Duration { return r.units(r.Simulated.Elapsed.Int64()) }

func (r *Run) units(n int64) time.Duration { return time.Duration(n) * r.Tick }

// Measure starts the chain on loopback, has the entry called once, waits until
// the last work is over, and reads the ledgers. All is gone when it returns. It
// ends early, with ctx's error, when ctx does.
func (r *Run) Measure(ctx context.Context) (m Measured, err error) {
	modes := faults.Modes{}.With(chainhop.Fault())
	cfg := faults.Config{Modes: modes}
	for hop := 1; hop <= r.Chain.Hops; hop++ {
		cfg.Listeners = append(cfg.Listeners, faults.ListenerConfig{Name: name(hop)})
	}
	p, err := faults.Start(cfg)
	if err != nil {
		return Measured{}, err
	}
	defer func() {
		// Whoever interrupts does not wait for calls that hang.
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		err = errors.Join(err, p.Close(closing))
	}()
	// A hop has to know where the next one is, so they are told once all ports
	// are open.
	listeners := p.Listeners()
	for hop := 1; hop <= r.Chain.Hops; hop++ {
		texts := r.leaf()
		if hop < r.Chain.Hops {
			texts = []string{r.hop(hop, listeners[hop].URL)}
		}
		specs := make([]faults.Spec, len(texts))
		for i, text := range texts {
			if specs[i], err = modes.Parse(text); err != nil {
				return Measured{}, err
			}
		}
		if err := p.Set(name(hop), specs, 0); err != nil {
			return Measured{}, err
		}
	}
	if err := r.callEntry(ctx, listeners[0].URL); err != nil {
		return Measured{}, err
	}
	if err := settle(ctx, p); err != nil {
		return Measured{}, err
	}
	return r.read(p.Ledger())
}

// closeTime bounds the end of the partners.
const closeTime = 2 * time.Second

func name(hop int) string { return fmt.Sprintf("hop-%d", hop) }

// leaf returns the faults of the leaf: those that fail, then one that succeeds.
func (r *Run) leaf() []string {
	c := r.Chain
	cost := r.units(c.Cost)
	// Neither can be told apart from the other once more calls fail than are ever
	// made.
	fails, ordinary := uint64(MaxCalls), uint64(MaxCalls)
	if c.Fails != deadlinechain.Always {
		fails = min(fails, uint64(c.Fails))
	}
	if c.Permanent > 0 {
		ordinary = min(ordinary, uint64(c.Permanent-1))
	}
	ordinary = min(ordinary, fails)
	var row []string
	if ordinary > 0 {
		row = append(row, fmt.Sprintf("status:status=503,delay=%v,when=first=%d", cost, ordinary))
	}
	if fails > ordinary {
		row = append(row, fmt.Sprintf("status:status=500,delay=%v,when=first=%d", cost, fails))
	}
	return append(row, fmt.Sprintf("slow:delay=%v", cost))
}

// hop returns the fault of a hop that calls the one at next.
func (r *Run) hop(hop int, next string) string {
	c, h := r.Chain, r.settings(hop)
	needs := c.Cost
	for below := hop + 1; below < c.Hops; below++ {
		needs += r.settings(below).Work
	}
	text := fmt.Sprintf("chain:next=%s,policy=%v,tries=%d,needs=%v,work=%v,workers=%d", next, c.Policy, h.Tries, r.units(needs), r.units(h.Work), MaxCalls)
	// Under pass, behind the entry, only a budget of its own bounds a hop.
	if c.Policy == deadlinechain.Each || c.Policy == deadlinechain.Pass && (hop == 1 || hop <= len(c.PerHop) && c.PerHop[hop-1].Budget > 0) {
		text += fmt.Sprintf(",budget=%v", r.units(h.Budget)+r.Late())
	} else {
		text += fmt.Sprintf(",budget=%v", faults.MaxDelay)
	}
	if h.Backoff.Base > 0 {
		longest := cmp.Or(h.Backoff.Cap, int64(faults.MaxDelay/r.Tick))
		text += fmt.Sprintf(",backoff=%v,backoff-cap=%v", r.units(min(h.Backoff.Base, longest)), r.units(longest))
	}
	return text
}

// settings returns what a hop but the leaf goes by.
func (r *Run) settings(hop int) deadlinechain.Hop {
	c := r.Chain
	var own deadlinechain.Hop
	if hop <= len(c.PerHop) {
		own = c.PerHop[hop-1]
	}
	return deadlinechain.Hop{
		Tries: cmp.Or(own.Tries, c.Tries), Budget: cmp.Or(own.Budget, c.Budget),
		Work: cmp.Or(own.Work, c.Work), Backoff: cmp.Or(own.Backoff, c.Backoff),
	}
}
