package screen

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"chaoslab/budgetcaller"
)

// Grace is how long a function may take to come back after its context has
// ended, before it is left behind.
const Grace = 100 * time.Millisecond

// What a function can do to its part beside failing.
var (
	// ErrBehind: it did not come back after its context had ended.
	ErrBehind = errors.New("it does not obey its context and was left behind")
	// errExited: it ended its goroutine (runtime.Goexit).
	errExited = errors.New("it ended its goroutine")
)

// PanicError is the failure of a part whose function panicked.
type PanicError struct {
	Value any    // what it panicked with
	Stack []byte // of the function, as debug.Stack has it
}

// Error returns one line without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// returned is what a function came back with.
type returned struct {
	value  any
	answer *budgetcaller.Answer // nil if the function returned something else
	err    error
}

// guard runs f, and read on the answer it may return, on a goroutine of their
// own, so that neither a panic nor a disregarded context becomes the screen's.
func (s *Screen) guard(ctx context.Context, f Func, read func(*budgetcaller.Answer) (any, error)) returned {
	back := make(chan returned, 1)
	s.behind.add(1)
	go func() {
		defer s.behind.add(-1)
		ret := returned{err: errExited}
		defer func() {
			if p := recover(); p != nil {
				ret.err = &PanicError{p, debug.Stack()}
			}
			back <- ret
		}()
		value, err := f(ctx)
		if answer, ok := value.(*budgetcaller.Answer); ok && answer != nil && err == nil {
			ret.answer, value = answer, nil
			if answer.OK() {
				value, err = read(answer)
			}
		}
		ret.value, ret.err = value, err
	}()
	select {
	case ret := <-back:
		return ret
	case <-ctx.Done():
	}
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case ret := <-back:
		return ret
	case <-grace.C:
		return returned{err: ErrBehind}
	}
}

// behind counts the functions that have not come back.
type behind struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0 again; nil while nobody waits
}

func (b *behind) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n += n
	if b.n == 0 && b.none != nil {
		close(b.none)
		b.none = nil
	}
}

// Wait waits until no function of the screen runs any more: those of screens
// under way, and those that were left behind. It returns the error of ctx if
// that ends first. A service calls it when it shuts down.
func (s *Screen) Wait(ctx context.Context) error {
	s.behind.mu.Lock()
	if s.behind.n == 0 {
		s.behind.mu.Unlock()
		return nil
	}
	if s.behind.none == nil {
		s.behind.none = make(chan struct{})
	}
	none := s.behind.none
	s.behind.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
