package screen

import (
	"math"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tries := func(attempt time.Duration, n int, wait time.Duration) *budgetcaller.Dependency {
		return &budgetcaller.Dependency{Limits: budgetcaller.Limits{Attempt: attempt}, Retry: retry(n, wait)}
	}
	for _, tt := range []struct {
		name    string
		parts   []Part // in order; the last is optional
		verdict Verdict
		want    []string
	}{
		{
			"attempts that take three times the budget",
			[]Part{{Dependency: &budgetcaller.Dependency{Limits: budgetcaller.Limits{Attempt: 2 * time.Second}, Retry: budgetcaller.Retry{Attempts: 3}}}},
			CannotHold,
			[]string{"a: attempt limit 2s × 3 = 6s and waits of up to 300ms: more than the 2s that the parts have"},
		},
		{"sound", []Part{{Dependency: tries(300*ms, 2, 200*ms)}, {Expected: For(time.Second, "p50")}}, Sound, nil},
		{"tight", []Part{{Dependency: tries(800*ms, 2, 200*ms)}}, Tight, []string{"a: attempt limit 800ms × 2 = 1.6s and waits of up to 200ms: over 80 % of the 2s that the parts have"}},
		{
			"more than its limit",
			[]Part{{Limit: For(500*ms, "p99"), Dependency: tries(300*ms, 2, 100*ms)}},
			CannotHold,
			[]string{"a: attempt limit 300ms × 2 = 600ms and waits of up to 100ms: more than its limit of 500ms"},
		},
		{
			"usually too long",
			[]Part{{Expected: For(1200*ms, "p50")}, {Expected: For(900*ms, "p50")}},
			CannotHold,
			[]string{"b: it is not called even when those before it take their usual 1.2s: its floor is 900ms, and 800ms are left then", ": the parts usually take 2.1s together, and there are 2s for them"},
		},
		{"never called", []Part{{Floor: For(3*time.Second, "p99")}}, CannotHold, []string{"a: it is never called: its floor is 3s, and there are 2s for it"}},
		{"usually cut", []Part{{Floor: For(ms, "x"), Expected: For(300*ms, "p50"), Limit: For(200*ms, "p99")}}, CannotHold, []string{"a: it usually takes 300ms, and its limit is 200ms"}},
		{"together more at worst", []Part{{Limit: For(1500*ms, "p99")}, {Limit: For(600*ms, "p99")}}, Tight, []string{": the parts may take 2.1s together, and there are 2s for them: then the last ones are cut or not called"}},
		{"no reason", []Part{{Limit: For(100*ms, "")}, {Floor: For(2*ms, "")}}, Sound, []string{": no reason is given for: a limit, b floor"}},
		{"beyond all durations", []Part{{Dependency: tries(budgetcaller.MaxLimit, 100, time.Hour)}}, CannotHold, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var groups [][]Part
			for i, p := range tt.parts {
				p.Name, p.Call, p.Optional = string(rune('a'+i)), hangs, i == len(tt.parts)-1
				groups = append(groups, []Part{p})
			}
			s := mustNew(t, Config{Budget: For(2*time.Second, "a customer"), Groups: groups})
			notes := s.Check()
			if got := Worst(notes); got != tt.verdict {
				t.Errorf("verdict %v, want %v", got, tt.verdict)
			}
			if tt.want == nil {
				return
			}
			if got := texts(notes); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func texts(notes []Note) []string {
	var all []string
	for _, n := range notes {
		all = append(all, n.Part+": "+n.Text)
	}
	return all
}

func TestCheckMultipliesAvailabilities(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		of   []float64 // 0: the default
		want string
	}{
		{"five at 99.9 %", []float64{0, 0, 0, 0, 0}, "5 at 99.9 % make 99.5 %"},
		{"different ones", []float64{0.999, 0.99, 1}, "99.9 % × 99 % × 100 % make 98.9 %"},
		{"two that are nearly whole", []float64{0.99999, 0.99999}, "2 at 99.999 % make 99.998 %"},
		{"one alone", []float64{0.5}, ""},
	} {
		var group []Part
		for i, a := range tt.of {
			group = append(group, Part{Name: string(rune('a' + i)), Call: hangs, Availability: a})
		}
		s := mustNew(t, Config{Budget: For(time.Second, "x"), Groups: [][]Part{group}})
		got := ""
		for _, n := range s.Check() {
			got = strings.TrimPrefix(n.Text, "everything is required, so the availabilities multiply: ")
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPlusAndTimesDoNotOverflow(t *testing.T) {
	t.Parallel()
	if got := plus(math.MaxInt64, time.Second); got != math.MaxInt64 {
		t.Errorf("plus = %v", got)
	}
	if got := times(math.MaxInt64/2, 3); got != math.MaxInt64 {
		t.Errorf("times = %v", got)
	}
	if got := times(math.MaxInt64, 1); got != math.MaxInt64 {
		t.Errorf("times by one = %v", got)
	}
}

// A backoff that the Caller would refuse breaks nothing here.
func TestCheckWithABackoffThatIsRefused(t *testing.T) {
	t.Parallel()
	p := part{Part: Part{Dependency: &budgetcaller.Dependency{Retry: budgetcaller.Retry{Attempts: 2, Backoff: backoff.Config{Base: -1}}}}}
	if n, waits := p.tries(); n != 2 || waits != 0 {
		t.Errorf("tries = %d, %v; want 2 without waits", n, waits)
	}
}
