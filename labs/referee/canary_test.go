//go:build unix

package referee

import (
	"fmt"
	"testing"
	"time"

	"chaoslab/faults"
)

// TestNoise holds which of the waits that were measured count from when to when.
func TestNoise(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	const ms = time.Millisecond
	c := &canary{
		late: []sample{{at(100), 40 * ms}, {at(900), 20 * ms}},
		starved: map[task][]sample{
			{1, 1}: {{at(0), 10 * ms}, {at(200), 30 * ms}, {at(700), 90 * ms}, {at(1500), 95 * ms}},
			{1, 2}: {{at(0), 0}, {at(1500), 8 * ms}}, // waits less than the other thread: does not add
			{2, 2}: {{at(600), 15 * ms}},             // a child that is first seen later
		},
	}
	for _, one := range []struct {
		name     string
		from, to int
		want     Noise
	}{
		{"all of it", 0, 1500, Noise{40 * ms, 95 * ms, 0}},
		{"only the end", 800, 1500, Noise{20 * ms, 8 * ms, 0}},
		{"a late waking that began before", 70, 80, Noise{40 * ms, 95 * ms, 0}},
		{"after the last", 1600, 1700, Noise{0, 0, 0}},
	} {
		if got := c.noise(at(one.from), at(one.to)); got != one.want {
			t.Errorf("%s: noise from %d to %d ms: %+v, want %+v", one.name, one.from, one.to, got, one.want)
		}
	}
}

// TestNoiseMutesEveryBound holds that noise widens the bounds too that a check has
// of itself, and only that of the time that the check is about.
func TestNoiseMutesEveryBound(t *testing.T) {
	t.Parallel()
	loud, quiet := Noise{Late: 40 * time.Millisecond}, Noise{}
	told := func(start, left, deadline float64) Attempt {
		return request(start, start+10, faults.Entry{TimeoutMS: left, DeadlineMS: deadline, Status: 200})
	}
	for _, c := range []struct {
		name     string
		asked    Asked
		attempts []Attempt
		said     string
		run, in  Noise // of the whole run, and of the time of the attempt
		want     Verdict
	}{
		{"the header is worked out late", Asked{"check": "deadline", "budget": "1000"}, []Attempt{told(0, 1000, 0), told(200, 900, 0)}, "", loud, loud, Inconclusive},
		{"the header is the same each time", Asked{"check": "deadline", "budget": "1000"}, []Attempt{told(0, 1000, 0), told(500, 1000, 0)}, "", loud, loud, Fail},
		{"the deadline has moved a little", Asked{"check": "deadline-stands"}, []Attempt{told(0, 1000, 5000), told(200, 800, 5100)}, "", loud, loud, Inconclusive},
		{"the deadline has moved", Asked{"check": "deadline-stands"}, []Attempt{told(0, 1000, 5000), told(200, 800, 5500)}, "", loud, loud, Fail},
		{"the percentile is off a little", Asked{"check": "percentile", "field": "p", "p": "99"}, []Attempt{told(0, 0, 0)}, `{"p":90}`, loud, loud, Inconclusive},
		{"the percentile is another", Asked{"check": "percentile", "field": "p", "p": "99"}, []Attempt{told(0, 0, 0)}, `{"p":900}`, loud, loud, Fail},
		{"quiet a little late", Asked{"check": "quiet-after", "ms": "100"}, []Attempt{request(0, 350, faults.Entry{})}, "", loud, loud, Inconclusive},
		{"too long while it was loud", Asked{"check": "took", "to": "100"}, []Attempt{request(0, 150, faults.Entry{})}, "", loud, loud, Inconclusive},
		{"too long while it was quiet", Asked{"check": "took", "to": "100"}, []Attempt{request(0, 150, faults.Entry{})}, "", loud, quiet, Fail},
		{"any of all too long", Asked{"check": "took", "to": "100", "every": "yes"}, []Attempt{request(0, 150, faults.Entry{})}, "", loud, quiet, Inconclusive},
		{"the gap was loud", Asked{"check": "gap", "nth": "1", "to": "100"}, []Attempt{request(0, 10, faults.Entry{}), request(150, 160, faults.Entry{})}, "", loud, loud, Inconclusive},
		{"the gap was quiet", Asked{"check": "gap", "nth": "1", "to": "100"}, []Attempt{request(0, 10, faults.Entry{}), request(150, 160, faults.Entry{})}, "", loud, quiet, Fail},
		{"a count", Asked{"check": "attempts", "n": "2"}, []Attempt{request(0, 10, faults.Entry{})}, "", loud, loud, Inconclusive},
		{"a count with room for more", Asked{"check": "attempts", "n": "2", "room": "50"}, []Attempt{request(0, 10, faults.Entry{})}, "", loud, loud, Fail},
		{"a count with room for less", Asked{"check": "attempts", "n": "2", "room": "40"}, []Attempt{request(0, 10, faults.Entry{})}, "", loud, loud, Inconclusive},
		{"a count that holds whatever comes", Asked{"check": "attempts", "n": "2", "hard": "yes"}, []Attempt{request(0, 10, faults.Entry{})}, "", loud, loud, Fail},
		{"a pass that noise may account for", Asked{"check": "attempts", "n": "1", "hides": "40"}, []Attempt{request(0, 10, faults.Entry{})}, "", loud, loud, Inconclusive},
		{"a pass that noise cannot account for", Asked{"check": "attempts", "n": "1", "hides": "50"}, []Attempt{request(0, 10, faults.Entry{})}, "", loud, loud, Pass},
		{"two that overlap a little", Asked{"check": "at-once", "most": "1"}, []Attempt{request(0, 80, faults.Entry{}), request(40, 120, faults.Entry{})}, "", loud, loud, Inconclusive},
		{"two at once", Asked{"check": "at-once", "most": "1"}, []Attempt{request(0, 800, faults.Entry{}), request(40, 820, faults.Entry{})}, "", loud, loud, Fail},
		{"there is no such gap", Asked{"check": "gap", "nth": "2", "to": "100"}, []Attempt{request(0, 10, faults.Entry{})}, "", quiet, loud, Fail},
	} {
		w, err := values{}.want(c.asked)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.attempts {
			c.attempts[i].How = "answered"
		}
		s := &Seen{Attempts: c.attempts, Said: say(c.said), Noise: c.run, noiseIn: func(float64, float64) Noise { return c.in }}
		if got := w.apply(s); got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

func TestAwaitCalm(t *testing.T) {
	t.Parallel()
	start := time.Now()
	awaitCalm(t.Context())
	if took := time.Since(start); took < calmFor || took > calmMost+slack {
		t.Errorf("it took %v, want from %v to %v", took, calmFor, calmMost)
	}
}

// TestAttemptsOf holds that a connection is an attempt only if no request came on it.
func TestAttemptsOf(t *testing.T) {
	t.Parallel()
	got := attemptsOf([]faults.Entry{
		{Kind: "connection", Conn: 1, Nth: 1},
		{Kind: "request", Conn: 1, Nth: 1},
		{Kind: "connection", Conn: 2}, // not counted yet
		{Kind: "request", Conn: 2, Nth: 1},
		{Kind: "connection", Conn: 3},
	}, time.Now(), 0)
	var text string
	for _, a := range got {
		text += fmt.Sprintf("%s %d, ", a.Kind, a.Entry.Conn)
	}
	if want := "request 1, request 2, connection 3, "; text != want {
		t.Errorf("attempts: %s; want %s", text, want)
	}
}

// TestFailsTwice holds that on a machine without a core to spare a failure counts
// once it has come twice, unless no machine can be to blame for it.
func TestFailsTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		found []Finding
		sure  bool
	}{
		{"of times", []Finding{{Verdict: Fail}}, false},
		{"of what no delay explains", []Finding{{Verdict: Pass}, {Verdict: Fail, sure: true}}, true},
		{"beside what no delay explains, which holds", []Finding{{Verdict: Pass, sure: true}, {Verdict: Fail}}, false},
	} {
		if got := (&Result{Findings: c.found}).sure(); got != c.sure {
			t.Errorf("%s: sure %v, want %v", c.name, got, c.sure)
		}
	}
	for n, want := range map[Noise]bool{{}: false, {Crowd: 0.5}: false, {Crowd: 1}: true, {Late: time.Second}: true} {
		if got := n.Busy(); got != want {
			t.Errorf("%+v: busy %v, want %v", n, got, want)
		}
	}
}
