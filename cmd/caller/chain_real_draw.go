package main

import (
	"time"

	"chaoslab/labs/deadlinechain"
)

// pictures are the time lines of a run as it was simulated and as it was
// measured, in ms.
func (r realRun) pictures() []picture {
	const unit = int64(time.Millisecond / time.Microsecond)
	tick := r.Tick.Microseconds()
	sim := r.simulated().picture()
	sim.head += "; times in ms"
	sim.axis, sim.unit, sim.entry = "sim", unit, sim.entry*tick
	for i := range sim.spans {
		s := &sim.spans[i]
		s.Start, s.End = s.Start*tick, s.End*tick
	}
	for _, told := range sim.told {
		for i := range told {
			if told[i] != deadlinechain.NotTold {
				told[i] *= r.Tick.Milliseconds()
			}
		}
	}
	real := picture{axis: "real", hops: r.Chain.Hops, unit: unit, slop: r.Late().Microseconds(), entry: r.m.Entry.Microseconds()}
	for _, s := range r.m.Spans {
		real.spans = append(real.spans, deadlinechain.Span{Hop: s.Hop, Start: s.Start.Microseconds(), End: s.End.Microseconds(), How: s.How})
	}
	real.cut = sim.cut || len(real.spans) > maxSpans
	for _, all := range r.m.Told {
		told := make([]int64, len(all))
		for i, ms := range all {
			told[i] = int64(ms) // -1 is NotTold too
		}
		real.told = append(real.told, told)
	}
	return []picture{sim, real}
}
