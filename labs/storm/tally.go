package storm

import (
	"sync/atomic"
	"time"

	"chaoslab/budgetcaller"
)

// fate is how a call ended.
type fate uint8

const (
	pending fate = iota // not begun, or not ended
	good                // answered while somebody waited
	late                // answered, but too late
	failed
	dropped  // not begun: too many calls were under way
	canceled // the run was broken off
)

// call is the account of one call.
type call struct {
	took time.Duration // from when it was due
	fate fate
}

// tick is what was counted in one second.
type tick struct {
	due, first, retried      atomic.Int64
	good, late, failed       atomic.Int64
	dropped, throttled, open atomic.Int64
}

// tally counts while a run is under way. It is safe for concurrent use.
type tally struct {
	start   time.Time
	calls   []call // each is written by its own goroutine alone
	ticks   []tick // by second
	classes [64]atomic.Int64
	unsent  atomic.Int64 // attempts of which the partner saw nothing
}

func newTally(start time.Time, calls int, length time.Duration) *tally {
	return &tally{start: start, calls: make([]call, calls), ticks: make([]tick, int(length/time.Second)+2)}
}

// at returns the tick of a moment; the last one holds all that comes after it.
func (t *tally) at(since time.Duration) *tick {
	i := int(since / time.Second)
	return &t.ticks[min(max(i, 0), len(t.ticks)-1)]
}

// attempt notes an attempt in the second in which its request was sent.
func (t *tally) attempt(e budgetcaller.AttemptEvent) {
	r := e.Record
	if i := int(r.Class); i < len(t.classes) {
		t.classes[i].Add(1)
	}
	if _, sent := r.Phases.Took(budgetcaller.PhaseRequest); !sent {
		t.unsent.Add(1)
		return
	}
	at := r.Start.Sub(t.start)
	for p := budgetcaller.PhasePool; p < budgetcaller.PhaseRequest; p++ {
		if took, ok := r.Phases.Took(p); ok {
			at += took
		}
	}
	if e.Number == 1 {
		t.at(at).first.Add(1)
	} else {
		t.at(at).retried.Add(1)
	}
}

// skip notes an attempt that was not made.
func (t *tally) skip(e budgetcaller.SkipEvent) {
	now := t.at(time.Since(t.start))
	switch {
	case e.Class == budgetcaller.ClassBreakerOpen:
		now.open.Add(1)
	case e.Class != budgetcaller.ClassBelowFloor:
		now.throttled.Add(1)
	}
}

// end notes how call n, due at due, ended, now.
func (t *tally) end(n int, due time.Duration, f fate) {
	now := time.Since(t.start)
	t.calls[n] = call{now - due, f}
	at := t.at(now)
	switch f {
	case good:
		at.good.Add(1)
	case late:
		at.late.Add(1)
	case dropped:
		at.dropped.Add(1)
	default:
		at.failed.Add(1)
	}
}
