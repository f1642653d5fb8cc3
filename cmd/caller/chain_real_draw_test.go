package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"chaoslab/internal/realchain"
	"chaoslab/labs/deadlinechain"
)

// What was measured stands under what was simulated, on the same scale; calls
// that a clock has overlap by a little stay in one row.
func TestMeasuredTimeLine(t *testing.T) {
	t.Parallel()
	c := deadlinechain.Chain{Hops: 3, Tries: 2, Cost: 10, Budget: 25, Fails: 2, Policy: deadlinechain.Each, Trace: traceEvents}
	run, err := realchain.New(c, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	at := func(hop int, start, end float64, how deadlinechain.Kind) realchain.Span {
		ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
		return realchain.Span{Hop: hop, Start: ms(start), End: ms(end), How: how}
	}
	r := realRun{run, realchain.Measured{
		Calls: []int{1, 1, 2}, Entry: 202 * time.Millisecond, Told: [][]int{{-1}, {-1, -1}},
		Spans: []realchain.Span{
			at(1, 0, 202, deadlinechain.Failed), at(2, 1, 240.5, deadlinechain.Failed),
			at(3, 1.5, 102, deadlinechain.Failed), at(3, 101, 201, deadlinechain.Failed), at(3, 201.2, 240, deadlinechain.Succeeded),
		},
	}}
	var got bytes.Buffer
	drawPictures(&got, r.pictures())
	const want = `
= works  - waits  ~ for nobody  x failed  + ok  / told to stop

each    every hop starts a budget of its own; times in ms
sim     0            50           100          150           200
entry   [---------------------------------------------------x
hop 2   [---------------------------------------------------x
leaf    [========================x[=========================x
        time for hop 2: 250
        time for leaf: 250, 250
real    0            50           100          150           200
entry   [---------------------------------------------------x
hop 2   [----------------------------------------------------~~~~~~~~~~x
leaf    [========================x[=========================x[~~~~~~~~+
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

// Where calls are later than a unit is long, that is said, with what helps.
func TestLateRealRunsSaySo(t *testing.T) {
	t.Parallel()
	run, err := realchain.New(deadlinechain.Chain{Hops: 2, Tries: 2, Cost: 10, Budget: 45, Fails: deadlinechain.Always}, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for late, want := range map[time.Duration]string{
		3 * time.Millisecond:  "at most 3.0 ms for each call of the leaf later.",
		34 * time.Millisecond: "That is more than a unit: with a longer one the times come closer: --tick 60ms.",
	} {
		m := realchain.Measured{Calls: []int{1, 2}, LeafCalls: 2, Elapsed: run.Takes() + 2*late, Agrees: true}
		notes := realNotes([]realRun{{run, m}})
		if got := notes[len(notes)-1]; !strings.HasSuffix(got, want) {
			t.Errorf("%v late: got %q, want %q at its end", late, got, want)
		}
	}
}
