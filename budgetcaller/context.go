package budgetcaller

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// budgetContext is a context with a deadline, as context.WithDeadline makes
// one, that costs next to nothing while nobody asks for its Done channel: a
// call is watched by the timer of its attempt, and needs no second one. It
// implements AfterFunc, so that contexts made from it need no goroutine.
type budgetContext struct {
	context.Context // the parent

	total    time.Duration // what Begin was told; NoLimit: waived
	deadline time.Time     // zero if there is none

	ended atomic.Bool // err is set

	mu         sync.Mutex
	err        error
	done       chan struct{}    // made when it is asked for
	timer      *time.Timer      // runs once anybody waits for the deadline
	stopParent func() bool      // ends the watch over the parent
	watchers   map[watcher]bool // run when it is over
	first      watcher          // the first of them, as there is mostly one
}

// watcher is told when a context is over, by whoever ends it: it must be quick.
type watcher interface{ contextOver() }

// afterFunc is a function that runs in a goroutine of its own when a context is
// over.
type afterFunc struct{ run func() }

func (f *afterFunc) contextOver() { go f.run() }

// newBudgetContext returns a context of its own deadline, or the parent's if
// that is earlier: then that is the budget, and total is not known.
func newBudgetContext(parent context.Context, total time.Duration, deadline time.Time) *budgetContext {
	if d, ok := parent.Deadline(); ok && (deadline.IsZero() || d.Before(deadline)) {
		deadline, total = d, NoLimit
	}
	return &budgetContext{Context: parent, total: total, deadline: deadline}
}

// follow makes the context end with its parent.
func (c *budgetContext) follow() {
	if c.Context.Done() == nil {
		return
	}
	stop := context.AfterFunc(c.Context, func() { c.end(c.Context.Err()) })
	c.mu.Lock()
	c.stopParent = stop
	c.mu.Unlock()
}

// cancel is the CancelFunc.
func (c *budgetContext) cancel() { c.end(context.Canceled) }

func (c *budgetContext) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	c.ended.Store(true)
	if c.done != nil {
		close(c.done)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	first, others, stop := c.first, c.watchers, c.stopParent
	c.first, c.watchers = nil, nil
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
	if first != nil {
		first.contextOver()
	}
	for w := range others {
		w.contextOver()
	}
}

// expire ends the context if its deadline has come, or if its parent has ended
// and that has not come through yet.
func (c *budgetContext) expire() {
	c.expireWithParent()
	if !c.deadline.IsZero() && !time.Now().Before(c.deadline) {
		c.end(context.DeadlineExceeded)
	}
}

func (c *budgetContext) expireWithParent() {
	if err := c.Context.Err(); err != nil {
		c.end(err)
	}
}

// canceled reports whether it is over because somebody gave up.
func (c *budgetContext) canceled() bool {
	if !c.ended.Load() {
		c.expireWithParent()
	}
	return c.ended.Load() && errors.Is(c.Err(), context.Canceled)
}

// await starts the timer for the deadline; c.mu must be held.
func (c *budgetContext) await() {
	if c.timer == nil && c.err == nil && !c.deadline.IsZero() {
		c.timer = time.AfterFunc(time.Until(c.deadline), func() { c.end(context.DeadlineExceeded) })
	}
}

// Deadline implements context.Context.
func (c *budgetContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// Done implements context.Context.
func (c *budgetContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	c.await()
	return c.done
}

// Err implements context.Context.
func (c *budgetContext) Err() error {
	if !c.ended.Load() {
		c.expire()
	}
	if !c.ended.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Value implements context.Context.
func (c *budgetContext) Value(key any) any {
	if key == (budgetKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// AfterFunc runs f in a goroutine of its own once the context is over, as
// context.AfterFunc describes. Package context uses it for contexts made from
// this one.
func (c *budgetContext) AfterFunc(f func()) (stop func() bool) {
	w := &afterFunc{f}
	c.watch(w, true)
	return func() bool { return c.unwatch(w) }
}

// watch registers w. Without timed, w is not told of the deadline unless
// somebody else waits for it: it has a timer of its own.
func (c *budgetContext) watch(w watcher, timed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		go w.contextOver() // never under the lock
		return
	case c.first == nil:
		c.first = w
	case c.watchers == nil:
		c.watchers = map[watcher]bool{w: true}
	default:
		c.watchers[w] = true
	}
	if timed {
		c.await()
	}
}

// unwatch takes w out and reports whether it had not been run.
func (c *budgetContext) unwatch(w watcher) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == w {
		c.first = nil
		return true
	}
	found := c.watchers[w]
	delete(c.watchers, w)
	return found
}
