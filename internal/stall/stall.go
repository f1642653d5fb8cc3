package stall

import (
	"slices"
	"sync"
	"time"
)

const (
	// every is how long the watch sleeps, and the least that counts as a stall:
	// timers of a quiet machine are later than asked for, too.
	every = 5 * time.Millisecond
	// kept is how many stalls are kept. The oldest go first: a bound that reaches
	// further back than they do becomes stricter.
	kept = 1 << 14
)

// Watch is a goroutine that wakes all the time and notes when it woke late. Its
// methods may be called at once.
type Watch struct {
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex
	due    time.Time // when it wakes next
	stalls []stalled // in order
}

// stalled is a time in which the watch should have run and did not.
type stalled struct{ from, to time.Time }

// Start begins to watch.
func Start() *Watch {
	w := &Watch{stop: make(chan struct{}), done: make(chan struct{}), due: time.Now().Add(every)}
	go w.run()
	return w
}

// Stop ends it. It may be called once.
func (w *Watch) Stop() {
	close(w.stop)
	<-w.done
}

func (w *Watch) run() {
	defer close(w.done)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-w.stop:
			return
		}
		w.woke(time.Now())
		timer.Reset(every)
	}
}

func (w *Watch) woke(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.due) >= every {
		if len(w.stalls) == kept {
			w.stalls = slices.Delete(w.stalls, 0, kept/2)
		}
		w.stalls = append(w.stalls, stalled{w.due, now})
	}
	w.due = now.Add(every)
}

// Since returns how long the machine stalled from then until now, in all.
func (w *Watch) Since(from time.Time) time.Duration { return w.between(from, time.Now()) }

func (w *Watch) between(from, to time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sum time.Duration
	if to.Sub(w.due) >= every { // it has not woken yet from this one
		sum = to.Sub(later(w.due, from))
	}
	for _, s := range slices.Backward(w.stalls) {
		if !s.to.After(from) {
			break
		}
		if s.from.Before(to) {
			sum += earlier(s.to, to).Sub(later(s.from, from))
		}
	}
	return sum
}

// Room returns how much later than on a quiet machine something may be that began
// then and has just ended. It is twice the stalls: between two of them the watch
// sleeps, and a call that has many short steps waits before each.
func (w *Watch) Room(from time.Time) time.Duration { return 2 * w.Since(from) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
