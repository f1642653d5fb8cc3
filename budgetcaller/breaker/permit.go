package breaker

import "time"

// Permit is the leave to make one call. Its outcome counts only in the period
// of the breaker in which it was given. It must be given back, by Record or by
// Release: the first of them counts and any later one does nothing, so that a
// deferred Release gives back what a panic or an early return left. The zero
// Permit does nothing. It belongs to one goroutine and must not be copied.
type Permit struct {
	_       noCopy
	breaker *Breaker // nil: given back
	period  uint64
}

// noCopy makes go vet complain about copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Record gives the permit back with the call's outcome, and returns the change
// of state that this brought about, nil if none. Neutral is what Release does.
func (p *Permit) Record(now time.Time, outcome Outcome) *Change {
	if outcome != Success && outcome != Failure {
		p.Release()
		return nil
	}
	b := p.breaker
	if b == nil {
		return nil
	}
	p.breaker = nil
	return b.record(p.period, outcome == Failure, now)
}

// Release gives the permit back without an outcome, unless it was given back
// already. A trial call's place is free again for another call.
func (p *Permit) Release() {
	if b := p.breaker; b != nil {
		p.breaker = nil
		b.release(p.period)
	}
}

// Trial reports whether the call is a trial call of a half-open breaker, and
// was not given back yet.
func (p *Permit) Trial() bool { return p.breaker != nil && stateOf(p.period) == HalfOpen }
