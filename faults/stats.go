package faults

import (
	"sync/atomic"
	"time"
)

// counters are what a listener counts, cheap enough to be on every request's
// path. Modes and outcomes are fixed lists, so no label can grow.
type counters struct {
	accepted atomic.Uint64
	open     atomic.Int64
	hung     atomic.Int64
	received atomic.Uint64 // requests whose head was read, or refused
	left     atomic.Uint64 // clients that left before their request had ended
	orphaned atomic.Int64  // nanoseconds worked after that
	byMode   [][outcomes]atomic.Uint64
	byClient []atomic.Uint64 // by mode: ended by the client
	asked    histogram
	over     histogram
}

func (s *counters) ended(mode int16, how outcome, byClient bool) {
	if byClient {
		s.byClient[mode].Add(1)
		return
	}
	s.byMode[mode][how].Add(1)
}

// bucketBounds are the upper bounds of the histograms, in nanoseconds: 50 µs to
// a minute.
func bucketBounds() []int64 {
	return []int64{
		5e4, 1e5, 2e5, 3e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 3e10, 6e10,
	}
}

// histogram counts durations in fixed buckets.
type histogram struct {
	bounds []int64
	counts []atomic.Uint64 // one more than bounds
	sum    atomic.Int64
}

func newHistogram() histogram {
	b := bucketBounds()
	return histogram{bounds: b, counts: make([]atomic.Uint64, len(b)+1)}
}

func (h *histogram) observe(ns int64) {
	i := 0
	for i < len(h.bounds) && ns > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(ns)
}

func (h *histogram) export() Histogram {
	out := Histogram{Buckets: map[float64]uint64{}, Sum: time.Duration(h.sum.Load()).Seconds()}
	for i := range h.counts {
		out.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			out.Buckets[float64(h.bounds[i])/1e9] = out.Count
		}
	}
	return out
}

// Stats are the counts of one listener since its start.
type Stats struct {
	Listener    string
	Accepted    uint64 // connections
	Open        int64  // connections now
	Hung        int64  // connections now that are held without an answer
	Received    uint64 // requests whose head was read, or refused
	Processed   uint64 // effects that took place
	Duplicates  uint64 // requests whose Idempotency-Key had had its effect
	ClientsLeft uint64 // requests whose client left before they had ended
	Orphaned    time.Duration
	Outcomes    []OutcomeCount
	Asked       Histogram // delays asked for, in seconds
	Overshoot   Histogram // delivered less asked, in seconds
}

// OutcomeCount counts the requests of one fault that ended in one way:
// client_left, or a word of Outcomes. One that is worked on after its client has
// left counts once that is over, so what was received and not counted yet is what
// the partner still has to do.
type OutcomeCount struct {
	Mode, Outcome string
	Count         uint64
}

// Histogram holds cumulative counts by upper bound in seconds, as Prometheus
// wants them.
type Histogram struct {
	Count   uint64
	Sum     float64
	Buckets map[float64]uint64
}

// Stats returns the counts of every listener, in the order of Config.
func (p *Partner) Stats() []Stats {
	all := make([]Stats, 0, len(p.listeners))
	words := Outcomes()
	for _, l := range p.listeners {
		s := &l.stats
		out := Stats{
			Listener: l.name, Accepted: s.accepted.Load(), Open: s.open.Load(), Hung: s.hung.Load(),
			Received: s.received.Load(), ClientsLeft: s.left.Load(), Orphaned: time.Duration(s.orphaned.Load()),
			Asked: s.asked.export(), Overshoot: s.over.export(),
		}
		out.Processed, out.Duplicates = l.effects.counts()
		for mode, name := range p.modes {
			if n := s.byClient[mode].Load(); n > 0 {
				out.Outcomes = append(out.Outcomes, OutcomeCount{name, "client_left", n})
			}
			for how := range s.byMode[mode] {
				if n := s.byMode[mode][how].Load(); n > 0 {
					out.Outcomes = append(out.Outcomes, OutcomeCount{name, words[how], n})
				}
			}
		}
		all = append(all, out)
	}
	return all
}
