package budgetcaller

import (
	"sync"
	"sync/atomic"
	"time"
)

// alarms wake the watchdogs of attempts. Attempts are spread over several
// alarms, each with a lock and a timer of its own. A timer for each attempt
// would be set and stopped for calls that end long before it; here that is
// mostly an append and a removal. And what comes due together is served by one
// goroutine instead of one for each.
type alarms struct {
	given atomic.Uint32
	each  [alarmCount]alarm
}

const alarmCount = 8

func newAlarms() *alarms {
	s := &alarms{}
	base := time.Now()
	for i := range s.each {
		s.each[i].base, s.each[i].rings = base, never
	}
	return s
}

// close has nothing of the alarms left behind once no attempt waits for them.
func (s *alarms) close() {
	for i := range s.each {
		s.each[i].close()
	}
}

// next returns the alarm for one more attempt.
func (s *alarms) next() *alarm { return &s.each[s.given.Add(1)%alarmCount] }

// alarm rings attempts at the points in time that they asked for. Its points are
// in nanoseconds since base.
type alarm struct {
	base time.Time // constant

	mu    sync.Mutex
	line  line
	timer *time.Timer // nil until it is needed
	rings int64       // when timer fires, never if it does not; not after the first is due
	last  bool        // the timer is not to outlive who waits
	_     [64]byte    // keeps the locks of two alarms out of one cache line
}

// ringing is the part of an attempt that belongs to its alarm, which guards it.
type ringing struct {
	slot int32 // in the line, 0 while not in it
	rung bool  // it was rung at least once
	gone bool  // it wants to hear nothing any more
}

// set has a rung at the point due, or earlier if it was set to be: whoever is
// rung must look at the time.
func (l *alarm) set(a *attempt, due int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &a.ringing
	if r.gone {
		return
	}
	if r.slot == 0 {
		r.slot = l.line.add(a, due)
	} else {
		l.line.advance(r.slot, due)
	}
	if due < l.rings {
		l.wind(due, l.now())
	}
}

// drop takes a out for good, and reports whether it was never rung.
func (l *alarm) drop(a *attempt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &a.ringing
	r.gone = true
	if r.slot != 0 {
		l.line.remove(r.slot)
		r.slot = 0
	}
	if l.last {
		l.rest()
	}
	return !r.rung
}

func (l *alarm) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = true
	l.rest()
}

// rest stops the timer if nobody waits.
func (l *alarm) rest() {
	if first, _ := l.line.first(); first == nil && l.timer != nil {
		l.timer.Stop()
		l.rings = never
	}
}

func (l *alarm) now() int64 { return int64(time.Since(l.base)) }

// wind sets the timer.
func (l *alarm) wind(at, now int64) {
	l.rings = at
	d := time.Duration(at - now)
	if l.timer == nil {
		l.timer = time.AfterFunc(d, l.ring)
	} else {
		l.timer.Reset(d)
	}
}

// ringAtOnce bounds how many are taken out of the line under one lock.
const ringAtOnce = 64

// ring wakes all that are due.
func (l *alarm) ring() {
	for {
		var due [ringAtOnce]*attempt
		n := l.takeDue(due[:])
		for _, a := range due[:n] {
			a.watch(true)
		}
		if n < len(due) {
			return
		}
	}
}

// takeDue takes out of the line as many as are due and fit. If that was all, it
// sets the timer for the next.
func (l *alarm) takeDue(due []*attempt) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for n := range due {
		first, at := l.line.first()
		if at > now {
			l.rings = never
			if first != nil {
				l.wind(at, now)
			}
			return n
		}
		l.line.remove(first.ringing.slot)
		first.ringing.slot, first.ringing.rung = 0, true
		due[n] = first
	}
	return len(due)
}
