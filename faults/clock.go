package faults

import (
	"container/heap"
	"sync"
	"time"
)

// gather is how far apart firings may be taken together while many wait: it
// spares the system calls, and nobody is woken early.
const (
	gather     = 200 * time.Microsecond
	gatherFrom = 64
)

// clock wakes waiters at points in time, more exactly than the runtime's own
// timers where the system allows it. Times are nanoseconds since base.
type clock struct {
	base time.Time
	done chan struct{}

	mu    sync.Mutex
	heap  waiters
	armed int64 // what the alarm is set to; 0: not set
	alarm alarm
}

// alarm is one settable timer of the system.
type alarm interface {
	set(in time.Duration) // replaces what was set
	wait() bool           // blocks until it fires; false once it was stopped
	stop()
}

// waiter is one who waits. The zero value with a channel of capacity 1 is ready.
type waiter struct {
	at    int64
	index int // in the heap, from 1; 0: not waiting
	ch    chan struct{}
}

func newClock(base time.Time) (*clock, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	c := &clock{base: base, alarm: a, done: make(chan struct{})}
	go c.run()
	return c, nil
}

func (c *clock) now() int64 { return int64(time.Since(c.base)) }

// start makes w be sent to at time at, at once if that has passed.
func (c *clock) start(w *waiter, at int64) {
	w.at = at
	c.mu.Lock()
	defer c.mu.Unlock()
	heap.Push(&c.heap, w)
	if c.armed == 0 || at < c.armed {
		c.arm(at)
	}
}

// cancel makes sure that w is not sent to any more and empties its channel.
func (c *clock) cancel(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.index > 0 {
		heap.Remove(&c.heap, w.index-1)
	}
	select {
	case <-w.ch:
	default:
	}
}

// arm sets the alarm. It is called with the lock held.
func (c *clock) arm(at int64) {
	c.armed = at
	c.alarm.set(max(1, time.Duration(at-c.now())))
}

func (c *clock) run() {
	defer close(c.done)
	for c.alarm.wait() {
		c.fire()
	}
}

func (c *clock) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for len(c.heap) > 0 && c.heap[0].at <= now {
		w := heap.Pop(&c.heap).(*waiter)
		w.ch <- struct{}{}
	}
	if len(c.heap) == 0 {
		c.armed = 0
		return
	}
	at := c.heap[0].at
	if len(c.heap) > gatherFrom {
		at = max(at, now+int64(gather))
	}
	c.arm(at)
}

// stop ends the clock. Nobody is woken any more.
func (c *clock) stop() {
	c.alarm.stop()
	<-c.done
}

// waiters is a heap by time.
type waiters []*waiter

func (h waiters) Len() int           { return len(h) }
func (h waiters) Less(i, j int) bool { return h[i].at < h[j].at }
func (h waiters) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

// Push implements heap.Interface.
func (h *waiters) Push(x any) {
	w := x.(*waiter)
	*h = append(*h, w)
	w.index = len(*h)
}

// Pop implements heap.Interface.
func (h *waiters) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	w.index = 0
	return w
}
