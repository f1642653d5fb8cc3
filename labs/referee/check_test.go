package referee

import (
	"testing"
	"time"

	"chaoslab/faults"
)

// request is an attempt that came whole.
func request(start, end float64, e faults.Entry) Attempt {
	return Attempt{Listener: "shop", Kind: "request", Start: start, End: end, By: "client", How: "closed", Entry: e}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	three := &Seen{
		Attempts: []Attempt{
			request(100, 150, faults.Entry{TimeoutMS: 990, DeadlineMS: 5000, Key: "k", Path: "/"}),
			request(250, 300, faults.Entry{TimeoutMS: 840, DeadlineMS: 5001, Key: "k", Path: "/"}),
			request(500, 650, faults.Entry{TimeoutMS: 590, DeadlineMS: 4999, Key: "k", Path: "/other"}),
		},
		Effects: map[string]faults.Effects{"shop": {Effects: 1, Duplicates: 2}},
		Lives:   []Life{{Start: 0, End: 900}},
		Lines:   []Line{{At: 700, Text: "x"}, {At: 701, Text: "trace", Err: true}},
		Said:    say(`{"class":"ok","n":3,"a":1,"b":2}`),
		Replies: []Reply{{Start: 90, End: 480, Status: 504}, {Start: 700, End: 710, Status: 200, Body: `{"x": 1}`}},
	}
	syn := &Seen{Attempts: []Attempt{{Listener: "hole", Kind: "connect", Start: 50, End: 330, By: "client", Unsure: 40}}}
	for _, c := range []struct {
		name, check string
		args        args
		seen        *Seen
		want        bool
	}{
		{"the word", "said", args{"word": "ok|fine"}, three, true},
		{"another word", "said", args{"word": "refused"}, three, false},
		{"a field", "said", args{"word": "3", "field": "n"}, three, true},
		{"no such field", "said", args{"word": "3", "field": "m"}, three, false},
		{"nothing said", "said", args{"word": "ok"}, syn, false},
		{"a number", "said-number", args{"field": "n", "from": "2", "to": "3"}, three, true},
		{"a number too high", "said-number", args{"field": "n", "from": "0", "to": "2"}, three, false},
		{"a sum", "sum", args{"fields": "a+b", "total": "n"}, three, true},
		{"no sum", "sum", args{"fields": "a+a", "total": "n"}, three, false},
		{"three attempts", "attempts", args{"n": "3"}, three, true},
		{"two of a path", "attempts", args{"n": "2", "path": "/"}, three, true},
		{"too many attempts", "attempts", args{"n": "2"}, three, false},
		{"none elsewhere", "attempts", args{"n": "0", "at": "bank"}, three, true},
		{"took", "took", args{"from": "40", "to": "60", "by": "client"}, three, true},
		{"took too long", "took", args{"from": "40", "to": "60", "nth": "-1"}, three, false},
		{"ended by the other", "took", args{"from": "40", "to": "60", "by": "partner"}, three, false},
		{"every one", "took", args{"from": "40", "to": "60", "every": "yes"}, three, false},
		{"a connect seen too short", "took", args{"from": "300", "to": "400"}, syn, true},
		{"a connect that is too short", "took", args{"from": "330", "to": "400"}, syn, false},
		{"gaps", "gap", args{"from": "90", "to": "210"}, three, true},
		{"one gap", "gap", args{"from": "90", "to": "110", "nth": "2"}, three, false},
		{"no such gap", "gap", args{"nth": "3"}, three, false},
		{"gaps of one share", "gaps-vary", args{"base": "100", "by": "0.1"}, three, false},
		{"gaps that vary", "gaps-vary", args{"base": "100", "cap": "100", "by": "0.5"}, three, true},
		{"from 0 to the cap", "gaps-vary", args{"base": "200", "cap": "200", "low": "0.5", "high": "0.6"}, three, true},
		{"never near the cap", "gaps-vary", args{"base": "400", "cap": "400", "low": "0.5", "high": "0.6"}, three, false},
		{"never below half of it", "gaps-vary", args{"base": "100", "cap": "100", "low": "0.5", "high": "0.6"}, three, false},
		{"none of them", "took", args{"every": "yes", "from": "1"}, &Seen{}, false},
		{"begun in time", "starts", args{"nth": "2", "from": "100", "to": "200"}, three, true},
		{"begun too late", "starts", args{"nth": "-1", "from": "0", "to": "200"}, three, false},
		{"done, by its last line", "ended", args{"from": "590", "to": "610"}, three, true},
		{"quiet", "quiet-after", args{"ms": "600", "slack": "0"}, three, true},
		{"not quiet", "quiet-after", args{"ms": "400", "slack": "100"}, three, false},
		{"no request", "no-request", args{}, syn, true},
		{"a request", "no-request", args{}, three, false},
		{"effects", "effects", args{"n": "1", "duplicates": "2"}, three, true},
		{"twice", "effects", args{"n": "2"}, three, false},
		{"one key", "same-key", args{}, three, true},
		{"no key", "same-key", args{}, &Seen{Attempts: []Attempt{request(0, 1, faults.Entry{})}}, false},
		{"keys", "keys", args{"n": "1"}, three, true},
		{"per key", "per-key", args{"most": "3"}, three, true},
		{"too often for a key", "per-key", args{"most": "2"}, three, false},
		{"not often enough", "per-key", args{"most": "4", "key": "k", "exactly": "yes"}, three, false},
		{"what is left", "deadline", args{"budget": "1000"}, three, true},
		{"not what is left", "deadline", args{"budget": "1300"}, three, false},
		{"a deadline that stands", "deadline-stands", args{}, three, true},
		{"at most", "timeout-at-most", args{"ms": "990"}, three, true},
		{"more than that", "timeout-at-most", args{"ms": "900"}, three, false},
		{"nothing told", "no-timeout", args{}, &Seen{Attempts: []Attempt{request(0, 1, faults.Entry{})}}, true},
		{"something told", "no-timeout", args{}, &Seen{Attempts: []Attempt{request(0, 1, faults.Entry{TimeoutSent: true})}}, false},
		{"above the floor", "above-floor", args{"budget": "1000", "floor": "500"}, three, true},
		{"below the floor", "above-floor", args{"budget": "1000", "floor": "700"}, three, false},
		{"a reply", "reply", args{"status": "502|504"}, three, true},
		{"a body", "reply", args{"status": "200", "body": `"x":1`, "nth": "-1"}, three, true},
		{"every reply", "reply", args{"status": "200", "every": "yes"}, three, false},
		{"reply in time", "reply-took", args{"from": "380", "to": "400"}, three, true},
		{"no orphans", "no-orphans", args{"slack": "0"}, three, true},
		{"an orphan", "no-orphans", args{"slack": "0"}, &Seen{Attempts: three.Attempts, Replies: three.Replies[:1]}, false},
	} {
		check, err := lookup(c.check)
		if err != nil {
			t.Fatal(err)
		}
		if holds, seen, expected := check.judge(c.args, c.seen); holds != c.want || expected == "" {
			t.Errorf("%s: %s %v: %v (seen %q, expected %q), want %v", c.name, c.check, c.args, holds, seen, expected, c.want)
		}
	}
}

// Nobody is failed for the machine's noise, and noise excuses no more than it can
// have done.
func TestVerdictUnderNoise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		took  float64
		noise Noise
		want  Verdict
	}{
		{"in time", 150, Noise{Late: time.Second}, Pass},
		{"late on a quiet machine", 250, Noise{Late: 10 * time.Millisecond}, Fail},
		{"late on a loud one", 250, Noise{Late: 50 * time.Millisecond}, Inconclusive},
		{"late for want of a core", 250, Noise{Starved: 60 * time.Millisecond}, Inconclusive},
		{"later than the noise can explain", 2000, Noise{Late: 50 * time.Millisecond}, Fail},
		{"too early on a loud one", 40, Noise{Late: 50 * time.Millisecond}, Inconclusive},
	} {
		w, err := values{}.want(Asked{"check": "took", "from": "100", "to": "200", "look": "x"})
		if err != nil {
			t.Fatal(err)
		}
		s := &Seen{Attempts: []Attempt{request(0, c.took, faults.Entry{})}, Noise: c.noise}
		if got := w.apply(s); got.Verdict != c.want {
			t.Errorf("%s: %v ms under %+v: %s, want %s", c.name, c.took, c.noise, got.Verdict, c.want)
		}
	}
	w, err := values{}.want(Asked{"check": "effects", "n": "1"})
	if err != nil {
		t.Fatal(err)
	}
	s := &Seen{Effects: map[string]faults.Effects{"x": {Effects: 2}}, Noise: Noise{Late: time.Second}}
	if got := w.apply(s); got.Verdict != Fail {
		t.Errorf("two effects on a loud machine: %s, want fail: no noise makes a second payment", got.Verdict)
	}
}
