package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// observed is what calls of one target took. Its size is three numbers a call.
type observed struct {
	calls   int
	classes map[budgetcaller.Class]int
	whole   figures // from the start to the last byte
	silence figures // no silence in the call was longer
	connect figures // lookup, TCP and TLS, of calls that made a connection
}

// figures are durations, and how many more there were that nobody waited for.
type figures struct {
	values []time.Duration
	beyond int
}

// n is how many there are.
func (f figures) n() int { return len(f.values) + f.beyond }

// at returns percentile p by the nearest rank, and false if there are fewer than
// from, or if it is one of those beyond. The values must be sorted.
func (f figures) at(p, from int) (time.Duration, bool) {
	i := rank(f.n(), p)
	if f.n() < from || i < 0 || i >= len(f.values) {
		return 0, false
	}
	return f.values[i], true
}

func (o *observed) add(m measurement) {
	last := m.last()
	if o.classes == nil {
		o.classes = map[budgetcaller.Class]int{}
	}
	o.calls++
	o.classes[last.Class]++
	connecting := took(last, budgetcaller.PhaseLookup, budgetcaller.PhaseConnect, budgetcaller.PhaseTLS)
	switch last.Class {
	case budgetcaller.ClassOK:
		o.whole.values = append(o.whole.values, m.result.Elapsed)
		silence := time.Duration(0)
		for _, p := range []budgetcaller.Phase{budgetcaller.PhaseRequest, budgetcaller.PhaseFirstByte, budgetcaller.PhaseHead, budgetcaller.PhaseBody} {
			silence = max(silence, took(last, p))
		}
		o.silence.values = append(o.silence.values, silence)
		if !last.Reused {
			o.connect.values = append(o.connect.values, connecting)
		}
	case budgetcaller.ClassConnectTimeout, budgetcaller.ClassTLSTimeout:
		o.connect.beyond++
		o.whole.beyond++
		o.silence.beyond++
	case budgetcaller.ClassBudgetExhausted, budgetcaller.ClassReadTimeout, budgetcaller.ClassRequestTimeout, budgetcaller.ClassAttemptTimeout:
		o.whole.beyond++
		o.silence.beyond++
	}
}

func took(r budgetcaller.Record, phases ...budgetcaller.Phase) time.Duration {
	sum := time.Duration(0)
	for _, p := range phases {
		d, _ := r.Phases.Took(p)
		sum += d
	}
	return sum
}

// suggested is one limit and its reason.
type suggested struct {
	Limit      string      `json:"limit"`
	Value      cli.Millis  `json:"value_ms"`
	Low        *cli.Millis `json:"low_ms"` // what would do as well; null: nothing else
	High       *cli.Millis `json:"high_ms"`
	Reason     string      `json:"reason"`
	Source     string      `json:"source"`
	Percentile string      `json:"percentile"`
	Of         cli.Millis  `json:"percentile_ms"`
	Factor     float64     `json:"factor"`
	Date       string      `json:"date"`
	Samples    int         `json:"samples"`
}

// leastLimit is the shortest limit that is suggested: below it the schedulers of
// both machines decide who is late.
const leastLimit = 10 * time.Millisecond

// fromP99 is the limit that follows from a p99. What would do as well is 2.5 to
// 4 1/6 times the p99, so that one of 120 ms gives 300 to 500 ms.
func fromP99(limit string, p99 time.Duration, factor float64) suggested {
	exact := time.Duration(float64(p99) * factor)
	value := roundUp(exact)
	s := suggested{Limit: limit, Value: cli.Millis(value), Percentile: "p99", Of: cli.Millis(p99), Factor: factor}
	s.Reason = fmt.Sprintf("p99 of %s x %s", cli.ShowLimit(p99.Round(100*time.Microsecond)), strconv.FormatFloat(factor, 'g', -1, 64))
	if exact < leastLimit {
		s.Reason += ", raised to the least"
		return s
	}
	low, high := cli.Millis(roundUp(p99*5/2)), cli.Millis((p99 * 25 / 6).Truncate(time.Millisecond))
	s.Low, s.High = &low, &high
	return s
}

// roundUp rounds up to two digits, in whole milliseconds, at least leastLimit.
func roundUp(d time.Duration) time.Duration {
	step := time.Millisecond
	for d > 100*step {
		step *= 10
	}
	if rest := d % step; rest > 0 {
		d += step - rest
	}
	return max(d, leastLimit)
}

// suggest says what follows from what was observed. Nobody waited longer than
// budget for a call.
func (o *observed) suggest(t target, factor float64, now time.Time, budget time.Duration) suggestion {
	for _, f := range []*figures{&o.whole, &o.silence, &o.connect} {
		slices.Sort(f.values)
	}
	s := suggestion{
		Schema: suggestSchema, Target: t.String(), Date: now.UTC().Format(time.DateOnly),
		Calls: o.calls, Good: o.classes[budgetcaller.ClassOK], Classes: o.byClass(), Factor: factor,
		Whole: o.whole.spread(), Silence: o.silence.spread(), Connect: o.connect.spread(), Limits: []suggested{},
	}
	if s.Good < s.Calls {
		s.Notes = append(s.Notes, "not good: "+s.failures(""))
	}
	whole, known := o.whole.at(99, p99From)
	switch {
	case o.whole.n() < p99From:
		s.Refused = fmt.Sprintf("%d of %d calls were good, and a p99 needs at least %d%s", s.Good, s.Calls, p99From, s.failures(": "))
		return s
	case !known:
		s.Refused = fmt.Sprintf("more than 1 of 100 calls took longer than the %s they had, so the p99 is not known%s; give them longer with --budget", cli.ShowLimit(budget), s.failures(": "))
		return s
	}
	s.Limits = append(s.Limits, fromP99("attempt", whole, factor))
	if silence, ok := o.silence.at(99, p99From); ok {
		s.Limits = append(s.Limits, fromP99("read", silence, factor))
	}
	if connect, ok := o.connect.at(99, p99From); ok {
		s.Limits = append(s.Limits, fromP99("connect", connect, factor))
	} else {
		s.Notes = append(s.Notes, fmt.Sprintf("connect: %d of %d calls made a connection, and a p99 needs %d: see --new-connections", o.connect.n(), s.Calls, p99From))
	}
	if p90, ok := o.whole.at(90, p99From); ok {
		floor := max(p90.Truncate(time.Millisecond)+time.Millisecond, time.Millisecond)
		s.Limits = append(s.Limits, suggested{
			Limit: "floor", Value: cli.Millis(floor), Percentile: "p90", Of: cli.Millis(p90), Factor: 1,
			Reason: "p90 of " + cli.ShowLimit(p90.Round(100*time.Microsecond)),
		})
	}
	for i := range s.Limits {
		l := &s.Limits[i]
		l.Source, l.Date, l.Samples = sourceOf(t), s.Date, o.whole.n()
		if l.Limit == "connect" {
			l.Samples = o.connect.n()
		}
		l.Reason += fmt.Sprintf(", %d calls of %s, %s", l.Samples, l.Source, l.Date)
	}
	return s
}

// sourceOf names the target without its query: a reason is kept in files, and a
// query may hold what is nobody's business.
func sourceOf(t target) string {
	u := *t.url
	u.RawQuery, u.ForceQuery = "", false
	return u.String()
}

// byClass counts the calls by class, in the order of the classes.
func (o *observed) byClass() []classCount {
	var counts []classCount
	for _, info := range budgetcaller.Classes() {
		if n := o.classes[info.Class]; n > 0 {
			counts = append(counts, classCount{info.Class, n})
		}
	}
	return counts
}

// failures lists what was not good behind head, empty if all was.
func (s suggestion) failures(head string) string {
	var parts []string
	for _, c := range s.Classes {
		if c.Class != budgetcaller.ClassOK {
			parts = append(parts, fmt.Sprintf("%v %d", c.Class, c.Count))
		}
	}
	if parts == nil {
		return ""
	}
	return head + strings.Join(parts, ", ")
}
