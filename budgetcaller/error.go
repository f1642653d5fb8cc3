package budgetcaller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// What callers branch on, to be used with errors.Is on what Do and a Record
// report. They say what kept the call from being answered at last; an earlier
// failure that led there is Error.Last.
var (
	// ErrBudgetExhausted: the budget ended an attempt.
	ErrBudgetExhausted = errors.New("budget exhausted")
	// ErrBelowFloor: what was left of the budget was too little to begin.
	ErrBelowFloor = errors.New("below floor")
	// ErrBreakerOpen: the circuit breaker let nothing through.
	ErrBreakerOpen = errors.New("breaker open")
	// ErrPoolFull: no connection came free in time.
	ErrPoolFull = errors.New("no free connection")
)

// Error is the one error of attempts and calls: how it ended and why.
type Error struct {
	Dependency string // name of the dependency, empty for a bare attempt
	Class      Class
	Phase      Phase
	Limit      Limit
	Effect     Effect // of the whole call: the worst of its attempts'

	// Configured is how long the limit that fired was, 0 if none of ours did.
	Configured time.Duration
	// Left is what was left of the budget and Needed what would have been
	// needed, the wait included, where the call was stopped for that.
	Left, Needed time.Duration
	// Why says what kept a failure from being followed by another attempt,
	// empty where nothing did.
	Why string

	// Attempts is the account of every attempt of the call; empty for the
	// error of a bare attempt.
	Attempts []Record
	// Last is the last real failure of the call, nil if no attempt was made.
	Last *Record
	// Err is what the network said, nil where a limit or a cancel ended it.
	Err error
}

// Error returns one line: dependency, what happened, the figures.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Dependency != "" {
		b.WriteString(e.Dependency + ": ")
	}
	b.WriteString(e.what())
	if e.Last != nil && e.Last.Class != e.Class {
		fmt.Fprintf(&b, "; last failure: %v in phase %v", e.Last.Class, e.Last.Phase)
		if e.Last.Status != 0 {
			fmt.Fprintf(&b, ", status %d", e.Last.Status)
		}
	}
	if n := len(e.Attempts); n > 1 {
		fmt.Fprintf(&b, " (%d attempts)", n)
	}
	return b.String()
}

func (e *Error) what() string {
	not := "not called"
	if len(e.Attempts) > 0 {
		not = "not called again"
	}
	switch {
	case e.Class == ClassBreakerOpen:
		return not + ": breaker open"
	case e.Class == ClassBelowFloor && e.Why != "":
		return fmt.Sprintf("%s: %s: %v left, needs %v", not, e.Why, short(e.Left), short(e.Needed))
	case e.Class == ClassBelowFloor:
		return fmt.Sprintf("%s: %v left, floor %v", not, short(e.Left), short(e.Configured))
	case e.Configured > 0:
		return fmt.Sprintf("%v: %v limit of %v ended it in phase %v", e.Class, e.Limit, short(e.Configured), e.Phase)
	case e.Err != nil:
		return fmt.Sprintf("%v in phase %v: %v", e.Class, e.Phase, e.Err)
	}
	return fmt.Sprintf("%v in phase %v", e.Class, e.Phase)
}

// short rounds a duration down to what a person reads: never up to a limit that
// it did not reach.
func short(d time.Duration) time.Duration {
	if d >= 10*time.Millisecond {
		return d.Truncate(time.Millisecond)
	}
	return d.Truncate(10 * time.Microsecond)
}

// Is matches the sentinel of the class, and package context's word for the same
// thing.
func (e *Error) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.Class == ClassCanceled
	case context.DeadlineExceeded:
		return e.Class == ClassBudgetExhausted
	case ErrBudgetExhausted:
		return e.Class == ClassBudgetExhausted
	case ErrBelowFloor:
		return e.Class == ClassBelowFloor
	case ErrBreakerOpen:
		return e.Class == ClassBreakerOpen
	case ErrPoolFull:
		return e.Class == ClassPoolTimeout
	}
	return false
}

// Unwrap returns what the network said.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a limit ended it, the kernel's own included, or kept
// it from being begun.
func (e *Error) Timeout() bool { return e.Limit != LimitNone }
