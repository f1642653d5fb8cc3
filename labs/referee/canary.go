package referee

import (
	"context"
	"sync"
	"time"
)

// The bounds on noise: beyond them a check that rests on time fails nobody.
const (
	// MaxLate is how late the canary may wake.
	MaxLate = 30 * time.Millisecond
	// MaxStarved is how long the program's threads and children may wait for a core,
	// in all, from just before its first contact with a partner on.
	MaxStarved = 50 * time.Millisecond
)

const (
	canaryEvery = 5 * time.Millisecond
	starveEvery = 25 * time.Millisecond
	// justBefore is how long before the first contact noise counts: a program's
	// clocks begin before it connects.
	justBefore = starveEvery
)

// Noise says how busy the machine was during a scenario.
type Noise struct {
	Late    time.Duration `json:"late_ns"`    // the latest that the canary woke
	Starved time.Duration `json:"starved_ns"` // how long the program waited for a core, where it is known
}

// Loud says whether it was too much to judge by time.
func (n Noise) Loud() bool { return n.Late > MaxLate || n.Starved > MaxStarved }

// canary measures noise until its context ends.
type canary struct {
	mu      sync.Mutex
	late    []sample         // those worth keeping
	starved map[int][]sample // by thread
}

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
			for _, pid := range pids() {
				c.look(pid, now)
			}
		}
		last = time.Now()
	}
}

// look notes how long each thread of the process and of its descendants has
// waited for a core so far.
func (c *canary) look(pid int, now time.Time) {
	waited := waitedForCore(pid)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.starved == nil {
		c.starved = map[int][]sample{}
	}
	for tid, d := range waited {
		c.starved[tid] = append(c.starved[tid], sample{now, d})
	}
}

// noise returns what was measured from a point in time on.
func (c *canary) noise(from time.Time) Noise {
	c.mu.Lock()
	defer c.mu.Unlock()
	var n Noise
	for _, s := range c.late {
		if s.at.After(from) {
			n.Late = max(n.Late, s.d)
		}
	}
	for _, samples := range c.starved {
		// What a thread that is first seen later had waited by then counts whole.
		var before time.Duration
		for _, s := range samples {
			if !s.at.After(from) {
				before = s.d
			}
		}
		n.Starved += samples[len(samples)-1].d - before
	}
	return n
}
