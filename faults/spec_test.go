package faults

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in, want string // want: what String gives; empty: as in
	}{
		{in: "ok"},
		{in: "slow"},
		{in: "slow:delay=300ms"},
		{in: "slow:delay=0s"},
		{in: "slow:delay=uniform(1ms, 5ms),body=100", want: "slow:delay=uniform(1ms, 5ms),body=100"},
		{in: "slow:body=100,delay=list(90:1ms,10:2s)", want: "slow:delay=list(90:1ms,10:2s),body=100"},
		{in: "read-timeout:hold=1s,effect=yes"},
		{in: "slow:when=first=3"},
		{in: "slow:when=after=10+ratio=0.2,for=10s"},
		{in: "refused:for=10s"},
	} {
		s, err := Parse(tc.in)
		want := tc.want
		if want == "" {
			want = tc.in
		}
		if err != nil || s.String() != want {
			t.Errorf("Parse(%q) = %q, %v, want %q", tc.in, s, err, want)
		}
		if again, err := Parse(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("Parse(%q), what Parse gave, = %q, %v", s, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"", "no mode given: one of ok, refused"},
		{"sloow", `unknown mode "sloow": one of ok, refused`},
		{"slow:", "nothing after the colon"},
		{"slow:delay", `"delay": write key=value`},
		{"slow:delay=", "not a duration"},
		{"slow:delay=5", "not a duration"},
		{"slow:delay=-1s", "out of range: 0s to 1h"},
		{"slow:delay=2h", "out of range: 0s to 1h"},
		{"slow:delay=9999999h", "slow: delay: 9999999h is too long: at most 1h"},
		{"slow:delay=1h99999999999999999999.5s", "is too long: at most 1h"},
		{"slow:delay=uniform(1s,9999999h)", "9999999h is too long: at most 1h"},
		{"slow:delay=9999999", `"9999999" is not a duration`},
		{"slow:delay=9999999h5", `"9999999h5" is not a duration`},
		{"slow:delay=-9999999h", "not a duration"},
		{"slow:delay=9999999x", `"9999999x" is not a duration`},
		{"read-timeout:hold=9999999h", "hold: 9999999h is too long: at most 1h"},
		{"slow:delay=3000000h", "is too long: at most 1h"},
		{"slow:delay=1s,delay=2s", "delay is given twice"},
		{"slow:dely=1s", `unknown parameter "dely": it takes delay, body, effect, when, for`},
		{"slow:delay=uniform(1s)", "write uniform(a,b)"},
		{"slow:delay=uniform(2s,1s)", "2s is above 1s"},
		{"slow:delay=uniform(1s,2s", "closing parenthesis"},
		{"slow:delay=lognormal(p50=2s,p99=1s)", "p50 is above p99"},
		{"slow:delay=lognormal(p50=0s,p99=1s)", "out of range"},
		{"slow:delay=gamma(1s,2s)", "no such shape"},
		{"slow:delay=list(0:1s)", "weight above 0"},
		{"slow:delay=list(NaN:1s)", "weight above 0"},
		{"slow:body=-1", "out of range: 0 to"},
		{"slow:body=99999999999999999999", "not a whole number"},
		{"slow:when=ratio=1.5", "above 0 and at most 1"},
		{"slow:when=ratio=NaN", "above 0 and at most 1"},
		{"slow:when=first=0", "a whole number from 1"},
		{"slow:when=sometimes", `unknown condition "sometimes"`},
		{"slow:for=0s", "out of range"},
		{"slow:for=25h", "out of range"},
		{"slow:effect=maybe", "yes or no"},
		{"refused:when=first=1", "cannot count"},
		{"refused:effect=yes", "no request is ever read"},
	} {
		_, err := Parse(tc.in)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Parse(%q): got error %v, want one line with %q", tc.in, err, tc.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"ok", "slow:delay=uniform(1s,2s),when=first=3+ratio=0.5", "slow:delay=list(1:1s,2:2s)", "a:b=((,", "slow:delay=normal(1s,-1s)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(text, "\n") {
				t.Errorf("Parse(%q): the error has more than one line: %v", text, err)
			}
			return
		}
		if again, err := Parse(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("Parse(%q) = %q, which parses as %q, %v", text, s, again, err)
		}
		p, err := newPlan([]Spec{s}, 7, "fuzz")
		if err != nil {
			return
		}
		for n := range uint64(5) {
			p.request(n+1, 0)
		}
	})
}

func TestPlanOrder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		specs []string
		at    time.Duration
		want  string // the modes of the first requests
	}{
		{"nothing is ok", nil, 0, "ok ok ok"},
		{"first", []string{"slow:when=first=2"}, 0, "slow slow ok ok"},
		{"every", []string{"slow:when=every=3"}, 0, "ok ok slow ok ok slow"},
		{"after", []string{"slow:when=after=2"}, 0, "ok ok slow slow"},
		{"both conditions", []string{"slow:when=after=2+every=2"}, 0, "ok ok ok slow ok slow"},
		{"what is not hit gets the next", []string{"slow:when=first=1", "read-timeout:when=first=2"}, 0, "slow read-timeout ok"},
		{"stage one", []string{"slow:for=10s", "read-timeout:for=5s"}, 9 * time.Second, "slow slow"},
		{"stage two", []string{"slow:for=10s", "read-timeout:for=5s"}, 10 * time.Second, "read-timeout read-timeout"},
		{"after all stages", []string{"slow:for=10s", "read-timeout:for=5s"}, 15 * time.Second, "ok ok"},
	} {
		var specs []Spec
		for _, s := range tc.specs {
			specs = append(specs, spec(t, s))
		}
		p, err := newPlan(specs, 1, "l")
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var got []string
		for n := range strings.Fields(tc.want) {
			got = append(got, p.request(uint64(n+1), tc.at).Name())
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: %v at %v: got %s, want %s", tc.name, tc.specs, tc.at, s, tc.want)
		}
	}
}

func TestPlanRefusesPortThatNeverActs(t *testing.T) {
	t.Parallel()
	for _, specs := range [][]string{{"slow", "refused"}, {"slow:when=first=3", "refused:for=3s"}} {
		var parsed []Spec
		for _, s := range specs {
			parsed = append(parsed, spec(t, s))
		}
		if _, err := newPlan(parsed, 1, "l"); err == nil || !strings.Contains(err.Error(), "can never act") {
			t.Errorf("%v: got %v, want an error that says it can never act", specs, err)
		}
	}
}
