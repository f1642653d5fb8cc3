package postgres

import (
	"slices"
	"sync"
	"time"

	"chaoslab/labs/retryqueue"
)

// lookAgain is after how long a claim looks from the beginning again. Before, a
// job is missed only if another process had it locked and then did not take it, or
// if that one's clock is behind.
const lookAgain = 250 * time.Millisecond

// place is one in the order in which jobs are due.
type place struct{ due, seq int64 }

func (p place) before(o place) bool { return p.due < o.due || p.due == o.due && p.seq < o.seq }

// head remembers where the queue began when a claim last looked. Before that
// place there are only the index entries of jobs that were claimed since, tens of
// thousands until the next vacuum, and a claim that comes past all of them takes
// several times as long. The zero value looks from the beginning.
type head struct {
	mu    sync.Mutex
	first place
	at    retryqueue.Millis // of the claim that last looked from the beginning
	moves int               // how often something came before first, or may have
}

// look returns from where a claim at now has to look, and the moves until then.
func (h *head) look(now retryqueue.Millis) (from place, moves int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now < h.at || now.Sub(h.at) >= lookAgain {
		h.at, h.first = now, place{}
	}
	return h.first, h.moves
}

// found notes the first place at which a claim has found a job, unless a job has
// come in meanwhile.
func (h *head) found(p place, moves int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if moves == h.moves {
		h.first = p
	}
}

// put is told, afterwards, for when jobs were made due.
func (h *head) put(due ...retryqueue.Millis) {
	if len(due) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if int64(slices.Min(due)) <= h.first.due {
		h.first = place{}
	}
	h.moves++
}
