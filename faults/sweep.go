package faults

import (
	"runtime/debug"
	"time"
)

// sweepEvery is how often connections are looked at for what has lasted too
// long; bounds are kept to within it.
const sweepEvery = 100 * time.Millisecond

// sweep ends what lasts too long and checks the black holes, until the partner
// stops.
func (p *Partner) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var conns []*conn
	var memory settling
	for round := 1; ; round++ {
		select {
		case <-tick.C:
		case <-p.stopping:
			return
		}
		conns = p.all(conns[:0])
		now := p.clock.now()
		for _, c := range conns {
			c.sweep(now)
		}
		memory.look(len(conns) + p.hung())
		clear(conns)
		if round%10 == 0 {
			for _, l := range p.listeners {
				l.check()
			}
		}
	}
}

// hung returns how many connections are held without an answer.
func (p *Partner) hung() int {
	n := 0
	for _, l := range p.listeners {
		n += int(l.stats.hung.Load())
	}
	return n
}

// settling gives the memory of a burst back to the system once it is over: ten
// thousand requests at once need far more while they are read than while they
// hang, and the runtime alone would keep it for minutes.
type settling struct {
	last, released, calm int
}

// What counts as a burst, and for how many sweeps nothing may change after it.
const (
	burst     = 1000
	calmAfter = 5
)

// look is told at each sweep how much is being held.
func (s *settling) look(n int) {
	if s.calm++; abs(n-s.last) > burst/20 {
		s.calm = 0
	}
	s.last = n
	if s.calm >= calmAfter && abs(n-s.released) >= burst {
		s.released = n
		debug.FreeOSMemory()
	}
}

func abs(n int) int {
	return max(n, -n)
}
