package realchain

import (
	"testing"

	"chaoslab/labs/deadlinechain"
)

// holdSpans holds the calls of a run against those of the simulation: the same
// hops, none earlier, none shorter, and the same answers.
func holdSpans(t *testing.T, r *Run, m Measured) {
	t.Helper()
	if !m.Agrees {
		return
	}
	c := r.Chain
	c.Trace = deadlinechain.MaxTrace
	sim, err := deadlinechain.Simulate(c)
	if err != nil {
		t.Fatal(err)
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
		t.Fatalf("%+v: %d calls were drawn, want %d", c, len(m.Spans), len(want))
	}
	for i, got := range m.Spans {
		w := want[i]
		start, took := r.units(w.Start), r.units(w.End-w.Start)
		// Of a hop whose caller has left the ledger does not tell what it came to.
		known := got.Hop == c.Hops || w.End <= sim.Entry.Int64()
		if got.Hop != w.Hop || got.Start < start-rounded || got.Start > start+slack || got.End-got.Start < took-rounded || got.End > r.units(w.End)+slack || known && got.OK != (w.How == deadlinechain.Succeeded) {
			t.Errorf("%+v: call %d is hop %d from %v to %v, ok %v; simulated hop %d from %v for %v, %s",
				c, i+1, got.Hop, got.Start, got.End, got.OK, w.Hop, start, took, w.How)
		}
	}
}
