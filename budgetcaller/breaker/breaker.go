package breaker

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// What Admit returns for a call that is not let through.
var (
	// ErrOpen means that the breaker is open.
	ErrOpen = errors.New("breaker open")
	// ErrHalfOpen means that the breaker is half-open and all trial calls that
	// it may let through are under way or back.
	ErrHalfOpen = errors.New("breaker half-open, no trial call free")
)

// Breaker decides which calls to one partner are let through, from how the
// last ones ended. It is safe for concurrent use. A nil or zero Breaker lets
// everything through and never opens.
//
// The present moment is what callers say it is. It may differ a little between
// them; if it steps back, a wait under way starts afresh.
type Breaker struct {
	// period is the number of changes so far and, in its low bits, the state:
	// a closed breaker admits with this one load. It changes under mu only.
	period atomic.Uint64

	mu      sync.Mutex
	cfg     Config // constant
	window  window // of this closed period, or the last one
	trial   trial  // of this half-open period, or the last one
	opened  time.Time
	last    Change
	refused uint64 // calls not let through since it was last closed
}

// trial holds the trial calls of a half-open period.
type trial struct {
	tally              // of those that are back
	out      int       // under way
	admitted time.Time // the last of them
}

const stateBits = 2

func stateOf(period uint64) State { return State(period & (1<<stateBits - 1)) }

// New returns a closed Breaker, or an error that names the field of cfg that is
// out of range.
func New(cfg Config) (*Breaker, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Breaker{cfg: cfg, window: newWindow(cfg.SlidingWindowSize)}, nil
}

// Admit asks to make one call. If it may not be made, the error is ErrOpen or
// ErrHalfOpen and the Permit does nothing, so that its Release can be deferred
// before the error is looked at. In both cases the Change is the change of state
// that asking brought about, nil if none.
func (b *Breaker) Admit(now time.Time) (Permit, *Change, error) {
	if b == nil {
		return Permit{}, nil, nil
	}
	if period := b.period.Load(); stateOf(period) == Closed {
		return Permit{breaker: b, period: period}, nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	change, err := b.admit(now)
	if err != nil {
		b.refused++
		return Permit{}, change, err
	}
	return Permit{breaker: b, period: b.period.Load()}, change, nil
}

func (b *Breaker) admit(now time.Time) (change *Change, err error) {
	switch stateOf(b.period.Load()) {
	case Closed: // meanwhile
		return change, nil
	case Open:
		if passed(&b.opened, now) < b.cfg.WaitDurationInOpenState {
			return change, ErrOpen
		}
		change = b.change(HalfOpen, WaitOver, tally{}, now)
	}
	t := &b.trial
	if t.calls+t.out < b.cfg.PermittedNumberOfCallsInHalfOpenState {
		t.out++
		t.admitted = now
		return change, nil
	}
	if passed(&t.admitted, now) < b.cfg.MaxProbeDuration {
		return change, ErrHalfOpen
	}
	return b.change(Open, ProbesLost, tally{t.calls + t.out, t.failures + t.out}, now), ErrOpen
}

// record counts an outcome, if it is of the period that is under way.
func (b *Breaker) record(period uint64, failed bool, now time.Time) *Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if period != b.period.Load() {
		return nil
	}
	if stateOf(period) == Closed {
		return b.recordClosed(failed, now)
	}
	t := &b.trial
	t.out--
	t.calls++
	if failed {
		t.failures++
	}
	switch {
	case t.calls < b.cfg.PermittedNumberOfCallsInHalfOpenState:
		return nil
	case t.reaches(b.cfg.FailureRateThreshold):
		return b.change(Open, ProbesFailed, t.tally, now)
	}
	return b.change(Closed, ProbesPassed, t.tally, now)
}

func (b *Breaker) recordClosed(failed bool, now time.Time) *Change {
	w := &b.window
	if w.size == 0 { // the zero Breaker
		return nil
	}
	w.add(failed)
	if w.calls < b.cfg.MinimumNumberOfCalls || !w.reaches(b.cfg.FailureRateThreshold) {
		return nil
	}
	return b.change(Open, FailureRate, w.tally, now)
}

// release gives the place of a trial call to another one.
func (b *Breaker) release(period uint64) {
	if stateOf(period) == Closed {
		return // nothing is held
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if period == b.period.Load() {
		b.trial.out--
	}
}

func (b *Breaker) change(to State, why Reason, by tally, now time.Time) *Change {
	from, n := stateOf(b.period.Load()), b.last.Period+1
	switch {
	case to == Closed:
		b.window.clear()
	case to == HalfOpen:
		b.trial = trial{}
	default:
		b.opened = now
		if from == Closed {
			b.refused = 0
		}
	}
	c := Change{From: from, To: to, Reason: why, Period: n, At: now, Calls: by.calls, Failures: by.failures}
	b.last = c
	b.period.Store(n<<stateBits | uint64(to))
	return &c // a pointer: copying a Change on every call costs more than the rest
}

// clockSlack is by how much callers at the same time may differ about the
// present without it being taken for a clock that was set back.
const clockSlack = time.Second

// passed returns how long ago start was. If the clock was set back, start is
// now: else a wait would last as long as the step was.
func passed(start *time.Time, now time.Time) time.Duration {
	d := now.Sub(*start)
	if d < -clockSlack {
		*start = now
		return 0
	}
	return d
}
