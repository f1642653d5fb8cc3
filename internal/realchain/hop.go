package realchain

import (
	"cmp"
	"fmt"
	"time"

	"chaoslab/faults"
	"chaoslab/labs/deadlinechain"
)

// hop returns the fault of a hop that calls the one at next; the leaf calls
// nobody.
func (r *Run) hop(hop int, next string) string {
	c, h := r.Chain, r.settings(hop)
	text := fmt.Sprintf("chain:next=%s,policy=%v,needs=%v,workers=%d", next, c.Policy, r.units(r.needs(hop)), MaxCalls)
	late := r.script.lates[hop-1]
	// Under pass, behind the entry, only a budget of its own bounds a hop.
	own := hop <= len(c.PerHop) && c.PerHop[hop-1].Budget > 0
	budget := faults.MaxDelay
	if c.Policy == deadlinechain.Each || c.Policy == deadlinechain.Pass && (hop == 1 || own) {
		units := h.Budget
		if c.Policy == deadlinechain.Each && hop > 1 && c.PerTry > 0 {
			units = min(units, c.PerTry)
		}
		budget = r.units(units) + late.deadline
	}
	text += fmt.Sprintf(",budget=%v", budget)
	// Under pass, too, who is called works on: it shares the deadline, not the
	// fate of who called it.
	leaving := "work"
	if c.Stop {
		leaving = "stop"
	}
	text += ",leaving=" + leaving
	if hop == c.Hops {
		return text
	}
	text += fmt.Sprintf(",tries=%d,work=%v,parallel=%d", h.Tries, r.units(h.Work), h.Parallel)
	if c.PerTry > 0 {
		text += fmt.Sprintf(",per-try=%v", r.units(c.PerTry)+late.try)
	}
	if h.Backoff.Base > 0 {
		longest := cmp.Or(h.Backoff.Cap, int64(faults.MaxDelay/r.Tick))
		text += fmt.Sprintf(",backoff=%v,backoff-cap=%v", r.units(min(h.Backoff.Base, longest)), r.units(longest))
	}
	return text
}

// needs is the least with which a hop starts a try, or the leaf begins.
func (r *Run) needs(hop int) int64 {
	c := r.Chain
	if c.PerTry > 0 {
		return 1
	}
	needs := c.Cost
	for below := hop + 1; below < c.Hops; below++ {
		needs += r.settings(below).Work
	}
	return needs
}

// settings returns what a hop goes by.
func (r *Run) settings(hop int) deadlinechain.Hop {
	c := r.Chain
	var own deadlinechain.Hop
	if hop <= len(c.PerHop) {
		own = c.PerHop[hop-1]
	}
	return deadlinechain.Hop{
		Tries: cmp.Or(own.Tries, c.Tries), Budget: cmp.Or(own.Budget, c.Budget),
		Work: cmp.Or(own.Work, c.Work), Backoff: cmp.Or(own.Backoff, c.Backoff),
		Parallel: cmp.Or(own.Parallel, c.Parallel, 1),
	}
}

// lateness is how much later than simulated the limits of a hop come: its own
// deadline, and the end of each of its tries.
type lateness struct{ deadline, try time.Duration }
