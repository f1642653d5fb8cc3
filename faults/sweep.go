package faults

import (
	"runtime/debug"
	"time"
)

// sweepEvery is how often connections are looked at for what has lasted too
// long; bounds are kept to within it.
const sweepEvery = 100 * time.Millisecond

// maxLookups bounds what looking for clients that have left behind a full window
// may cost: some 4 ms a round. The connections come in random order, so with more
// of them each has its turn a little later.
const maxLookups = 300

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
		now, lookups := p.clock.now(), maxLookups
		for _, c := range conns {
			c.sweep(now, &lookups)
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
