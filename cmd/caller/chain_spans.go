package main

import (
	"chaoslab/cmd/internal/cli"
	"chaoslab/internal/realchain"
	"chaoslab/labs/deadlinechain"
)

// maxSpans is how many calls a JSON line tells about.
const maxSpans = traceEvents / 2

// timeLine is the calls of a simulated run as JSON shows them.
type timeLine struct {
	Spans []spanLine `json:"spans"`
	Cut   bool       `json:"spans_cut"`
}

// spanLine is one call of a hop, which is counted from 1.
type spanLine struct {
	Hop   int                `json:"hop"`
	Start int64              `json:"start"`
	End   int64              `json:"end"`
	How   deadlinechain.Kind `json:"how"` // ok, failed, permanent or stopped
}

// newTimeLine returns the calls of a trace in the order in which the measured
// ones come: hop by hop.
func newTimeLine(hops int, t deadlinechain.Trace) *timeLine {
	l := timeLine{Spans: []spanLine{}, Cut: t.Cut}
	spans := t.Spans()
	for hop := 1; hop <= hops; hop++ {
		for _, s := range spans {
			switch {
			case s.Hop != hop || s.How == deadlinechain.Called: // its end was cut off
			case len(l.Spans) == maxSpans:
				l.Cut = true
			default:
				l.Spans = append(l.Spans, spanLine{s.Hop, s.Start, s.End, s.How})
			}
		}
	}
	return &l
}

// realTimeLine is the calls of a measured run as JSON shows them.
type realTimeLine struct {
	Spans []realSpanLine `json:"spans"`
	Cut   bool           `json:"spans_cut"`
}

// realSpanLine is spanLine in real time.
type realSpanLine struct {
	Hop   int                `json:"hop"`
	Start cli.Millis         `json:"start_ms"`
	End   cli.Millis         `json:"end_ms"`
	How   deadlinechain.Kind `json:"how"`
}

func newRealTimeLine(spans []realchain.Span) realTimeLine {
	l := realTimeLine{Spans: []realSpanLine{}, Cut: len(spans) > maxSpans}
	for _, s := range spans[:min(len(spans), maxSpans)] {
		l.Spans = append(l.Spans, realSpanLine{s.Hop, cli.Millis(s.Start), cli.Millis(s.End), s.How})
	}
	return l
}
