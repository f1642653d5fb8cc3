package main

import (
	"testing"
	"time"

	"chaoslab/internal/realchain"
	"chaoslab/labs/deadlinechain"
)

// A time line in JSON is bounded, says so, and has no call without its end.
func TestTimeLinesAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		calls, want      int
		cutBefore, isCut bool
	}{
		{"a few", 3, 3, false, false},
		{"as many as there may be", maxSpans, maxSpans, false, false},
		{"one more", maxSpans + 1, maxSpans, false, true},
		{"the last without its end", 3, 2, true, true},
	} {
		var trace deadlinechain.Trace
		var real []realchain.Span
		for i := range c.calls {
			at := int64(i)
			trace.Events = append(trace.Events, deadlinechain.Event{At: at, Kind: deadlinechain.Called, Hop: 1, Call: i + 1})
			if !c.cutBefore || i+1 < c.calls {
				trace.Events = append(trace.Events, deadlinechain.Event{At: at + 1, Kind: deadlinechain.Failed, Hop: 1, Call: i + 1})
				real = append(real, realchain.Span{Hop: 1, End: time.Duration(at), How: deadlinechain.Failed})
			}
		}
		trace.Cut = c.cutBefore
		if l := newTimeLine(1, trace); len(l.Spans) != c.want || l.Cut != c.isCut {
			t.Errorf("%s: simulated: %d calls, cut %v, want %d, %v", c.name, len(l.Spans), l.Cut, c.want, c.isCut)
		}
		if l := newRealTimeLine(real); len(l.Spans) != c.want || l.Cut != (c.isCut && !c.cutBefore) {
			t.Errorf("%s: measured: %d calls, cut %v, want %d, %v", c.name, len(l.Spans), l.Cut, c.want, c.isCut)
		}
	}
}
