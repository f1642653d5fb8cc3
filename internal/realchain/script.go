package realchain

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"chaoslab/faults"
	"chaoslab/internal/chainhop"
	"chaoslab/labs/deadlinechain"
)

// script is what was simulated, as the real chain needs it: which call of the
// leaf is which, so that each takes as long and ends as it did there although
// calls of one moment come in any order.
type script struct {
	deadlinechain.Chain
	tick    time.Duration
	numbers map[string]int64 // of the leaf's calls, by their ways
	calls   int64            // of the leaf
	longest int64            // of the leaf's calls, where that is random
	lates   []lateness       // by hop-1
}

// read makes the script of a trace of the chain.
func (s *script) read(t deadlinechain.Trace) {
	s.numbers = map[string]int64{}
	ways := map[int]string{}
	left := map[int]bool{} // calls that nobody waits for
	limits := make([]fired, s.Hops)
	for i := range limits {
		limits[i] = fired{map[int64]bool{}, map[int64]bool{}}
	}
	for _, e := range t.Events {
		switch e.Kind {
		case deadlinechain.Called:
			if e.From > 0 {
				ways[e.Call] = fmt.Sprintf("%s/%d.%d", ways[e.From], e.Branch, e.Try)
			}
			if e.Hop == s.Hops {
				s.calls++
				s.numbers[ways[e.Call]] = s.calls
			}
		case deadlinechain.NotTried:
			if e.Hop == s.Hops { // it has not begun, and does not count
				s.calls--
				delete(s.numbers, ways[e.Call])
			}
		case deadlinechain.Abandoned:
			left[e.Call] = true
			limits[e.Hop-2].tries[e.At] = true
		case deadlinechain.GaveUp:
			if !left[e.Call] {
				limits[e.Hop-1].deadlines[e.At] = true
			}
		}
	}
	if s.RandomCost != nil {
		for n := int64(1); n <= s.calls; n++ {
			cost, _ := s.LeafCost(n)
			s.longest = max(s.longest, cost)
		}
	}
	s.lates = shareOut(limits, s.tick/2)
}

// fired is when the limits of one hop ended something that others waited for.
type fired struct{ deadlines, tries map[int64]bool }

// shareOut says how late limits come: as late as is given if nothing goes on
// after them. What does goes on late, and must still be in time for the limits
// around it: so one that fires n times comes late by 1/(n+1) of what the next
// such one around it does.
func shareOut(limits []fired, late time.Duration) []lateness {
	share := late
	of := func(times map[int64]bool) time.Duration {
		if len(times) == 0 {
			return late
		}
		share /= time.Duration(len(times) + 1)
		return share
	}
	all := []lateness{{deadline: late, try: of(limits[0].tries)}} // nothing goes on after the entry
	for _, f := range limits[1:] {
		deadline := of(f.deadlines)
		all = append(all, lateness{deadline, of(f.tries)})
	}
	return all
}

// leaf returns what the leaf does in one run. A call that was not simulated is
// numbered behind those that were.
func (s *script) leaf() chainhop.Script {
	var more atomic.Int64
	more.Store(s.calls)
	return func(way string) (time.Duration, int) {
		n, known := s.numbers[way]
		if !known {
			n = more.Add(1)
		}
		cost, how := s.LeafCost(n)
		status := http.StatusServiceUnavailable
		switch how {
		case deadlinechain.Succeeded:
			status = http.StatusOK
		case deadlinechain.Permanent:
			status = http.StatusInternalServerError
		}
		return time.Duration(min(cost, int64(faults.MaxDelay/s.tick))) * s.tick, status
	}
}
