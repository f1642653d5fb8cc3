package breaker

import "time"

// Snapshot is what a Breaker looked like at one moment.
type Snapshot struct {
	State State
	// Reason is why it is in that state, and Since is since when; zero if it
	// never changed.
	Reason Reason
	Since  time.Time
	// Period is the number of changes so far.
	Period uint64
	// Calls and Failures are, while closed, those in the window; while
	// half-open, of the trial calls that are back; while open, those by which
	// it was opened.
	Calls, Failures int
	// Trials is how many trial calls are under way.
	Trials int
	// Refused is how many calls were not let through since it was last closed.
	Refused uint64
	// OpenUntil is when the first trial call will be let through; zero unless
	// it is open.
	OpenUntil time.Time
}

// FailureRate returns the share of failures in percent; 0 without calls.
func (s Snapshot) FailureRate() float64 {
	if s.Calls == 0 {
		return 0
	}
	return float64(s.Failures) / float64(s.Calls) * 100
}

// Snapshot returns what the breaker looks like now. Looking changes nothing: an
// open breaker whose wait is over is open until a call asks.
func (b *Breaker) Snapshot() Snapshot {
	if b == nil {
		return Snapshot{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Snapshot{
		State: b.last.To, Reason: b.last.Reason, Since: b.last.At, Period: b.last.Period,
		Refused: b.refused,
	}
	by := b.window.tally
	switch s.State {
	case Open:
		by = tally{b.last.Calls, b.last.Failures}
		s.OpenUntil = b.opened.Add(b.cfg.WaitDurationInOpenState)
	case HalfOpen:
		by, s.Trials = b.trial.tally, b.trial.out
	}
	s.Calls, s.Failures = by.calls, by.failures
	return s
}

// Config returns what the breaker was made of, defaults filled in; the zero
// Config for a nil or zero Breaker.
func (b *Breaker) Config() Config {
	if b == nil {
		return Config{}
	}
	return b.cfg
}
