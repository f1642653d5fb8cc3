package main

import (
	"cmp"
	"slices"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// From so many values on a percentile says something: below that it would only
// be another word for the greatest.
const (
	p90From = 10
	p99From = 100
)

// spread says how a set of durations lies. A percentile is the nearest rank:
// one of the values, never one made up between two.
type spread struct {
	N   int         `json:"n"`
	Min cli.Millis  `json:"min"`
	P50 cli.Millis  `json:"p50"`
	P90 *cli.Millis `json:"p90"` // null below p90From values
	P99 *cli.Millis `json:"p99"` // null below p99From values
	Max cli.Millis  `json:"max"`
}

// spreadOf returns the spread of values, which it sorts, or nil if there are
// none.
func spreadOf(values []time.Duration) *spread {
	n := len(values)
	if n == 0 {
		return nil
	}
	slices.Sort(values)
	s := &spread{
		N:   n,
		Min: cli.Millis(values[0]),
		P50: cli.Millis(values[rank(n, 50)]),
		Max: cli.Millis(values[n-1]),
	}
	if n >= p90From {
		p90 := cli.Millis(values[rank(n, 90)])
		s.P90 = &p90
	}
	if n >= p99From {
		p99 := cli.Millis(values[rank(n, 99)])
		s.P99 = &p99
	}
	return s
}

// rank returns the index of percentile p in n sorted values.
func rank(n, p int) int { return (n*p+99)/100 - 1 }

// tally gathers the runs of one target. Its size is three numbers a run.
type tally struct {
	target  target
	runs    int
	classes map[budgetcaller.Class]*samples
	stopped map[string]int // why calls with retries stopped
	tries   int            // attempts made by them
}

// samples are the durations of runs of one class.
type samples struct {
	count      int
	elapsed    []time.Duration
	overshoot  []time.Duration // of those that a limit of ours ended
	difference []time.Duration // of those the partner has a record of
}

func newTally(t target) *tally {
	return &tally{target: t, classes: map[budgetcaller.Class]*samples{}}
}

func (t *tally) add(m measurement) {
	last := m.last()
	s := t.classes[last.Class]
	if s == nil {
		s = &samples{}
		t.classes[last.Class] = s
	}
	t.runs++
	if m.ending != nil {
		if t.stopped == nil {
			t.stopped = map[string]int{}
		}
		t.stopped[m.ending.why]++
		t.tries += len(m.attempts())
	}
	s.count++
	s.elapsed = append(s.elapsed, m.result.Elapsed)
	if cutByUs(last) {
		s.overshoot = append(s.overshoot, last.Overshoot)
	}
	if m.partner != nil && m.partner.Difference != nil {
		s.difference = append(s.difference, time.Duration(*m.partner.Difference))
	}
}

// summarySchema names the form of a summary's JSON line.
const summarySchema = "caller.summary/1"

// summary is a tally as JSON shows it. A spread is null where it would be of
// nothing.
type summary struct {
	Schema  string         `json:"schema"`
	Target  string         `json:"target"`
	Runs    int            `json:"runs"`
	Classes []classSummary `json:"classes"` // the most frequent first
	spreads                // of all runs together

	// Of calls that may have several attempts only.
	Attempts int            `json:"attempts,omitempty"` // of all runs together
	Stopped  map[string]int `json:"stopped,omitempty"`  // why no further attempt was made
}

type classSummary struct {
	Class budgetcaller.Class `json:"class"`
	Count int                `json:"count"`
	spreads
}

type spreads struct {
	Elapsed    *spread `json:"elapsed_ms"`
	Overshoot  *spread `json:"overshoot_ms"`
	Difference *spread `json:"difference_ms"`
}

func (s *samples) spreads() spreads {
	return spreads{spreadOf(s.elapsed), spreadOf(s.overshoot), spreadOf(s.difference)}
}

func (t *tally) summary() summary {
	sum := summary{Schema: summarySchema, Target: t.target.String(), Runs: t.runs, Classes: []classSummary{}, Attempts: t.tries, Stopped: t.stopped}
	var all samples
	for class, s := range t.classes {
		sum.Classes = append(sum.Classes, classSummary{class, s.count, s.spreads()})
		all.elapsed = append(all.elapsed, s.elapsed...)
		all.overshoot = append(all.overshoot, s.overshoot...)
		all.difference = append(all.difference, s.difference...)
	}
	slices.SortFunc(sum.Classes, func(a, b classSummary) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	sum.spreads = all.spreads()
	return sum
}
