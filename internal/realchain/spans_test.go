package realchain

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"chaoslab/labs/deadlinechain"
)

// spansApart says which calls of a run are not those of the simulation: the same
// hops, none beginning or ending earlier, and the same answers.
func spansApart(t *testing.T, r *Run, m Measured) (wrong []string) {
	t.Helper()
	c := r.Chain
	c.Trace = deadlinechain.MaxTrace
	sim, err := deadlinechain.Simulate(c)
	if err != nil {
		t.Fatal(err)
	}
	left := map[int]bool{}
	for _, e := range sim.Trace.Events {
		left[e.Call] = left[e.Call] || e.Kind == deadlinechain.Abandoned
	}
	var want []deadlinechain.Span
	for hop := 1; hop <= c.Hops; hop++ {
		for _, s := range sim.Trace.Spans() {
			if s.Hop == hop {
				want = append(want, s)
			}
		}
	}
	if len(m.Spans) != len(want) {
		return []string{fmt.Sprintf("%d calls were drawn, want %d", len(m.Spans), len(want))}
	}
	// Calls of one moment come in any order.
	got := slices.Clone(m.Spans)
	slices.SortStableFunc(got, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare((a.Start+rounded)/r.Tick, (b.Start+rounded)/r.Tick), cmp.Compare((a.End+rounded)/r.Tick, (b.End+rounded)/r.Tick), cmp.Compare(a.How, b.How))
	})
	slices.SortStableFunc(want, func(a, b deadlinechain.Span) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.How, b.How))
	})
	for i, got := range got {
		w := want[i]
		from, to := r.units(w.Start), r.units(w.End)
		// Of a hop whose caller has left the ledger does not tell what it came to.
		end := sim.Entry.Int64()
		known := !left[w.Call] && (w.End < end || w.End == end && c.Parallel <= 1) || w.How == deadlinechain.Succeeded && got.Hop == c.Hops
		if got.Hop != w.Hop || got.Start < from-rounded || got.Start > from+slack || got.End < to-rounded || got.End > to+slack || known && got.How != w.How {
			wrong = append(wrong, fmt.Sprintf("call %d is hop %d from %v to %v, %s; simulated hop %d from %v to %v, %s",
				i+1, got.Hop, got.Start, got.End, got.How, w.Hop, from, to, w.How))
		}
	}
	return append(wrong, toldApart(r, m, sim.Trace)...)
}

// toldApart says which tries were told more than half a unit more or less than in
// the simulation.
func toldApart(r *Run, m Measured, trace deadlinechain.Trace) (wrong []string) {
	if r.Chain.Policy != deadlinechain.Pass || r.Chain.Parallel > 1 {
		return nil
	}
	for hop := 1; hop < r.Chain.Hops; hop++ {
		for i, units := range trace.Told(hop) {
			want := r.units(units)
			if got := time.Duration(m.Told[hop-1][i]) * time.Millisecond; (got - want).Abs() > r.Late() {
				wrong = append(wrong, fmt.Sprintf("hop %d told try %d %v, want %v", hop, i+1, got, want))
			}
		}
	}
	return wrong
}
