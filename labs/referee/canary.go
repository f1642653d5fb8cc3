package referee

import (
	"context"
	"maps"
	"runtime"
	"sync"
	"time"
)

// The bounds on noise: beyond them a check that rests on time fails nobody.
const (
	// MaxLate is how late the canary may wake.
	MaxLate = 30 * time.Millisecond
	// MaxStarved is how long the program may wait for a core within StarveWindow:
	// of each of its processes the thread that waits longest, added up.
	MaxStarved = 50 * time.Millisecond
	// StarveWindow is the time in which it counts: a figure is off by what was
	// waited for while it came about, and not by what many short waits come to in a
	// long run.
	StarveWindow = 500 * time.Millisecond
)

const (
	canaryEvery = 5 * time.Millisecond
	starveEvery = 25 * time.Millisecond
	// justBefore is how long before the first contact noise counts: a program's
	// clocks begin before it connects.
	justBefore = starveEvery
	// around is how long before and after an attempt noise counts for it.
	around = 2 * starveEvery
)

// Noise says how busy the machine was during a scenario.
type Noise struct {
	Late    time.Duration `json:"late_ns"`    // the latest that the canary woke
	Starved time.Duration `json:"starved_ns"` // how long the program waited for a core in the worst StarveWindow, where it is known
	// Crowd is how many threads of all programs wanted a core, for each core there is,
	// on the average; 0 where it is not known.
	Crowd float64 `json:"crowd"`
}

// Busy says whether the machine had no core to spare: then there may be noise that
// was not seen, such as a wait for the disk, and a failure must come twice.
func (n Noise) Busy() bool { return n.Crowd >= 1 || n.Loud() }

// Loud says whether it was too much to judge by time.
func (n Noise) Loud() bool { return n.Late > MaxLate || n.Starved > MaxStarved }

// canary measures noise until its context ends.
type canary struct {
	mu      sync.Mutex
	late    []sample // those worth keeping
	starved map[task][]sample
	// kin are the descendants of each process that were seen, with when each was
	// started: those that drop their environment and leave their group are known by it.
	kin map[int]map[int]string
	// runnable adds up how many threads wanted a core, over so many looks.
	runnable, looks int
}

// task is a thread of a process.
type task struct{ pid, tid int }

// sample is a duration at a point in time.
type sample struct {
	at time.Time
	d  time.Duration
}

// watch measures until ctx is done. pids returns the processes to look at.
func (c *canary) watch(ctx context.Context, pids func() []int) {
	t := time.NewTicker(canaryEvery)
	defer t.Stop()
	last := time.Now()
	var looked time.Time
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		if late := now.Sub(last) - canaryEvery; late > canaryEvery {
			c.mu.Lock()
			c.late = append(c.late, sample{now, late})
			c.mu.Unlock()
		}
		if now.Sub(looked) >= starveEvery {
			looked = now
			c.count()
			for _, pid := range pids() {
				c.look(pid, now)
			}
		}
		last = time.Now()
	}
}

// count notes how many threads want a core now.
func (c *canary) count() {
	n, ok := runnable()
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runnable += n
	c.looks++
}

// look notes how long each thread of the process and of its descendants has
// waited for a core so far.
func (c *canary) look(pid int, now time.Time) {
	waited := waitedForCore(pid)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.starved == nil {
		c.starved, c.kin = map[task][]sample{}, map[int]map[int]string{}
	}
	if c.kin[pid] == nil {
		c.kin[pid] = map[int]string{}
	}
	for t, d := range waited {
		if c.kin[pid][t.pid] == "" && t.pid != pid {
			c.kin[pid][t.pid] = startedAt(t.pid)
		}
		c.starved[t] = append(c.starved[t], sample{now, d})
	}
}

// kinOf returns the descendants of a process that were seen.
func (c *canary) kinOf(pid int) map[int]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.kin[pid])
}

// noise returns what was measured between two points in time. A to that is zero
// means until now.
func (c *canary) noise(from, to time.Time) Noise {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.IsZero() {
		to = time.Now()
	}
	var n Noise
	if c.looks > 0 {
		n.Crowd = float64(c.runnable) / float64(c.looks) / float64(runtime.NumCPU())
	}
	for _, s := range c.late {
		if s.at.After(from) && s.at.Add(-s.d).Before(to) {
			n.Late = max(n.Late, s.d)
		}
	}
	const step = StarveWindow / 5
	for begin := from; ; begin = begin.Add(step) {
		end := begin.Add(StarveWindow)
		n.Starved = max(n.Starved, c.starvedIn(begin, end))
		if !end.Before(to) {
			return n
		}
	}
}

// starvedIn adds up over the processes what the thread of each that waited longest
// waited from one point in time to another.
func (c *canary) starvedIn(from, to time.Time) time.Duration {
	worst := map[int]time.Duration{}
	for t, samples := range c.starved {
		// What a thread that is first seen later had waited by then counts whole.
		var before, after time.Duration
		for _, s := range samples {
			if !s.at.After(from) {
				before = s.d
			}
			after = s.d
			if s.at.After(to) {
				break // the first one behind it: what was waited until then may lie within
			}
		}
		worst[t.pid] = max(worst[t.pid], after-before)
	}
	var sum time.Duration
	for _, d := range worst {
		sum += d
	}
	return sum
}

// How long it is waited for calm before a scenario is run anew.
const (
	calmFor  = 20 * canaryEvery
	calmMost = time.Second
)

// awaitCalm waits until a canary has woken in time for a while, or for calmMost.
func awaitCalm(ctx context.Context) {
	end := time.Now().Add(calmMost)
	for calm := time.Now(); time.Now().Before(end) && time.Since(calm) < calmFor && ctx.Err() == nil; {
		begun := time.Now()
		wait(ctx, canaryEvery)
		if time.Since(begun) > canaryEvery+MaxLate/2 {
			calm = time.Now()
		}
	}
}
