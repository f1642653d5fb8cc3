package breaker

import (
	"fmt"
	"time"
)

// State is where a breaker stands. The zero value is Closed.
type State uint8

// The states.
const (
	// Closed lets every call through and counts its outcome.
	Closed State = iota
	// Open lets none through until its wait is over. It stays Open until the
	// next call asks after that, as nothing runs in between.
	Open
	// HalfOpen lets a fixed number of trial calls through, which decide.
	HalfOpen
)

// String returns "closed", "open" or "half_open".
func (s State) String() string { return word("state", uint8(s), "closed", "open", "half_open") }

// MarshalText implements encoding.TextMarshaler with String's word.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Outcome is what a call says of the partner's health. The zero value is
// Neutral.
type Outcome uint8

// The outcomes.
const (
	// Neutral says nothing: the call was canceled, cut by the caller's own
	// budget, or not sent after all. It is not counted.
	Neutral Outcome = iota
	// Success says that the partner did its part, also with an answer that the
	// caller did not like, such as a 404.
	Success
	// Failure says that it did not.
	Failure
)

// String returns "neutral", "success" or "failure".
func (o Outcome) String() string { return word("outcome", uint8(o), "neutral", "success", "failure") }

// MarshalText implements encoding.TextMarshaler with String's word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Reason says why a breaker is in its state. The zero value is Start.
type Reason uint8

// The reasons.
const (
	// Start is the reason of the state it was made in.
	Start Reason = iota
	// FailureRate opened it: the window's failure rate reached the threshold.
	FailureRate
	// WaitOver made it half-open: a call asked after the wait.
	WaitOver
	// ProbesFailed opened it again: all trial calls are back, and their failure
	// rate reached the threshold.
	ProbesFailed
	// ProbesLost opened it again: trial calls were not given back in time.
	ProbesLost
	// ProbesPassed closed it: all trial calls are back, and their failure rate
	// did not reach the threshold.
	ProbesPassed
)

// String returns "start", "failure_rate", "wait_over", "probes_failed",
// "probes_lost" or "probes_passed".
func (r Reason) String() string {
	return word("reason", uint8(r), "start", "failure_rate", "wait_over", "probes_failed", "probes_lost", "probes_passed")
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func word(kind string, i uint8, words ...string) string {
	if int(i) < len(words) {
		return words[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// Change is one change of state, returned by the call that made it, for the
// caller to report once it holds no locks of its own.
type Change struct {
	From, To State
	Reason   Reason
	// Period counts the changes of this breaker, from 1: callers that report at
	// the same time may do so out of order, and this restores it.
	Period uint64
	// At is the moment that was passed in.
	At time.Time
	// Calls and Failures are what it was judged by: of the window, or of the
	// trial calls; 0 where only time passed.
	Calls, Failures int
}

// String returns such as "closed -> open: failure_rate, 10 of 20 calls failed"
// or "open -> half_open: wait_over".
func (c *Change) String() string {
	if c.Calls == 0 {
		return fmt.Sprintf("%v -> %v: %v", c.From, c.To, c.Reason)
	}
	return fmt.Sprintf("%v -> %v: %v, %d of %d calls failed", c.From, c.To, c.Reason, c.Failures, c.Calls)
}
