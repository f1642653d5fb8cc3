package budgetcaller

import (
	"sync/atomic"
	"time"
)

// hearing is what reads and writes leave behind for the watchdog: points in
// time only, so that they cost no system call and no timer.
type hearing struct {
	// readFrom is when the read that is pending began, 0 while none is: who
	// does not listen cannot complain of silence.
	readFrom atomic.Int64
	// sentAt is when the partner had taken the whole request.
	sentAt atomic.Int64
}

// sending is what the watchdog knows of a request that is going out; attempt.mu
// guards it.
type sending struct {
	last  takenBytes
	seen  bool  // last is a sample
	moved int64 // when a sample last showed progress
}

// Bounds of the time between two looks at the send queue.
const (
	samplesPerLimit = 16
	minSample       = time.Millisecond
	maxSample       = 50 * time.Millisecond
)

// watch is the watchdog of an attempt, rung by its alarm. It finds the limit that ends first,
// decides if that has passed, and sleeps until it ends otherwise. Because it
// looks at what was heard only when it wakes, a byte costs nothing. alarmed says
// that the alarm has rung, and let go of the attempt with that.
func (a *attempt) watch(alarmed bool) {
	for {
		o := a.verdict.load()
		if o.decided() {
			return
		}
		now := a.span.now()
		silence, look := a.silence(o.phase, now)
		at, limit := a.span.nearest(o.phase, silence)
		if at <= now {
			if a.rule(o, classOf(limit, o.phase), limit, at, alarmed) {
				return
			}
			continue // the phase has moved on meanwhile
		}
		a.sleep(min(at, look))
		alarmed = false
		// A phase entered since o was loaded may end earlier than what was just
		// set; and an attempt that was decided may not see that it was set.
		switch now := a.verdict.load(); {
		case now.decided():
			a.alarm.drop(a)
			return
		case now == o:
			return
		}
	}
}

// sleep has the watchdog rung at the point at.
func (a *attempt) sleep(at int64) {
	if at != never {
		a.alarm.set(a, after(a.origin, time.Duration(at)))
	}
}

// silence returns when the partner's silence will have lasted for the read
// limit, and when to look again if that is earlier.
func (a *attempt) silence(p Phase, now int64) (end, look int64) {
	switch p {
	case PhaseRequest:
		return a.taking(now)
	case PhaseFirstByte, PhaseHead, PhaseBody:
		from := a.hearing.readFrom.Load()
		if from == 0 {
			from = now
		}
		from = max(from, a.hearing.sentAt.Load())
		return after(from, time.Duration(a.span.read)), never
	}
	return never, never
}

// taking samples how much of the request the partner has taken. Single writes
// may last long although it takes bytes all the time, and a finished write says
// only that the kernel has them, so the kernel is asked.
func (a *attempt) taking(now int64) (end, look int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == nil {
		return never, now + int64(minSample) // being taken back, see retract
	}
	s := &a.sending
	if s.moved == 0 {
		s.moved = a.marks[PhaseRequest].Load()
	}
	taken := a.conn.taken()
	if !s.seen || taken.bytes != s.last.bytes || taken.queued == 0 {
		s.moved = now
	}
	s.seen, s.last = true, taken
	if a.handed.Load() && taken.queued == 0 {
		a.allSent(now)
	}
	from := max(s.moved, a.hearing.readFrom.Load())
	every := max(minSample, min(maxSample, time.Duration(a.span.read/samplesPerLimit)))
	return after(from, time.Duration(a.span.read)), now + int64(every)
}

// allSent notes that the partner has taken the whole request and that the wait
// for its first byte begins.
func (a *attempt) allSent(now int64) {
	a.hearing.sentAt.CompareAndSwap(0, now)
	a.enterAt(PhaseFirstByte, now)
}
