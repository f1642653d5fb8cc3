package realchain

import (
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
	MinTick     = time.Millisecond
	MaxTick     = time.Second
	MaxHops     = 20
	MaxTries    = 100
	MaxParallel = 100
	MaxCalls    = 5000            // of all hops together
	MaxTime     = 5 * time.Minute // of the whole run
)

// Run is a chain that can be measured. It is immutable.
type Run struct {
	Chain     deadlinechain.Chain
	Tick      time.Duration        // one unit of the chain's time
	Simulated deadlinechain.Result // what is to come of it
	script    script
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
	r := &Run{Chain: c, Tick: tick, Simulated: simulated, script: script{Chain: c, tick: tick}}
	switch most := big.NewInt(int64(MaxTime / tick)); {
	case simulated.AllCalls.Cmp(big.NewInt(MaxCalls)) > 0:
		return nil, fmt.Errorf("%w: %v calls in all: at most %d are really made", ErrUnsupported, simulated.AllCalls, MaxCalls)
	case simulated.Elapsed.Cmp(most) > 0:
		return nil, fmt.Errorf("%w: %v units of %v: a real run takes at most %v", ErrUnsupported, simulated.Elapsed, tick, MaxTime)
	}
	traced := c
	traced.Trace = deadlinechain.MaxTrace
	if simulated, err = deadlinechain.Simulate(traced); err != nil {
		return nil, err
	}
	if simulated.Trace.Ties > 0 {
		return nil, fmt.Errorf("%w: a try would start at the very moment at which its hop ends, and in a real chain either may come first", ErrUnsupported)
	}
	r.script.read(simulated.Trace)
	all := []int64{c.Cost, c.PerTry, r.script.longest}
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

// ownWaits is why there is no jitter: the wait that was simulated cannot be given
// to the library by which a hop calls.
const ownWaits = "jitter: a real hop draws its waits by itself"

// unsupported says what of c no real hop can do; empty if there is nothing.
func unsupported(c deadlinechain.Chain) string {
	switch {
	case c.Hops < 2 || c.Hops > MaxHops:
		return fmt.Sprintf("%d hops: a real chain has 2 to %d", c.Hops, MaxHops)
	case c.Tries > MaxTries:
		return fmt.Sprintf("%d tries: a real hop makes at most %d", c.Tries, MaxTries)
	case c.Parallel > MaxParallel:
		return fmt.Sprintf("%d calls at once: a real hop makes at most %d", c.Parallel, MaxParallel)
	case c.Backoff.Jitter:
		return ownWaits
	}
	for i, h := range c.PerHop {
		switch {
		case h.Tries > MaxTries:
			return fmt.Sprintf("%d tries of hop %d: a real hop makes at most %d", h.Tries, i+1, MaxTries)
		case h.Parallel > MaxParallel:
			return fmt.Sprintf("%d calls at once of hop %d: a real hop makes at most %d", h.Parallel, i+1, MaxParallel)
		case h.Backoff.Jitter:
			return ownWaits
		}
	}
	return ""
}

// Late is how much later than simulated a deadline comes, the entry's always and
// the others at most.
func (r *Run) Late() time.Duration { return r.Tick / 2 }

// Takes is how long the run takes if all goes as simulated.
func (r *Run) Takes() time.Duration { return r.units(r.Simulated.Elapsed.Int64()) }

func (r *Run) units(n int64) time.Duration { return time.Duration(n) * r.Tick }

// Measure starts the chain on loopback, has the entry called once, waits until
// the last work is over, and reads the ledgers. All is gone when it returns. It
// ends early, with ctx's error, when ctx does.
func (r *Run) Measure(ctx context.Context) (m Measured, err error) {
	modes := faults.Modes{}.With(chainhop.Scripted(r.script.leaf()))
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
		next := "none"
		if hop < r.Chain.Hops {
			next = listeners[hop].URL
		}
		spec, err := modes.Parse(r.hop(hop, next))
		if err != nil {
			return Measured{}, err
		}
		if err := p.Set(name(hop), []faults.Spec{spec}, 0); err != nil {
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
