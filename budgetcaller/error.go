package budgetcaller

import (
	"fmt"
	"time"
)

// Error is the error of an attempt that did not end in an answer.
type Error struct {
	Class  Class
	Phase  Phase
	Limit  Limit
	Effect Effect
	// Configured is how long the limit that fired was, 0 if none of ours did.
	Configured time.Duration
	// Left is what was left of the budget, where that was below the floor.
	Left time.Duration
	// Err is what the network said, nil where a limit or a cancel ended it.
	Err error
}

// Error returns one line that names the class, the limit and the phase.
func (e *Error) Error() string {
	switch {
	case e.Limit == LimitFloor:
		return fmt.Sprintf("%v: not called: %v left, floor %v", e.Class, e.Left.Round(time.Microsecond), e.Configured)
	case e.Configured > 0:
		return fmt.Sprintf("%v: %v limit of %v ended it in phase %v", e.Class, e.Limit, e.Configured, e.Phase)
	case e.Err != nil:
		return fmt.Sprintf("%v in phase %v: %v", e.Class, e.Phase, e.Err)
	}
	return fmt.Sprintf("%v in phase %v", e.Class, e.Phase)
}

// Unwrap returns what the network said.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a limit ended the attempt, the kernel's own included.
func (e *Error) Timeout() bool { return e.Limit != LimitNone && e.Limit != LimitFloor }
