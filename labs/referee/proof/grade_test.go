package proof

import (
	"testing"

	"chaoslab/labs/referee"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	type found = referee.Finding
	for _, c := range []struct {
		name, want string
		found      []found
		mark       Mark
	}{
		{"a solution passes", "pass", []found{{Check: "a", Verdict: referee.Pass}}, Right},
		{"a solution fails", "pass", []found{{Check: "a", Verdict: referee.Fail}}, Off},
		{"a solution is inconclusive", "pass", []found{{Check: "a", Verdict: referee.Inconclusive}}, Unsure},
		{"a starter fails", "fail", []found{{Check: "a", Verdict: referee.Fail}}, Right},
		{"a starter passes", "fail", []found{{Check: "a", Verdict: referee.Pass}}, Off},
		{"a starter is inconclusive", "fail", []found{{Check: "a", Verdict: referee.Inconclusive}}, Unsure},
		{"a wrong program fails for the right reason", "s b", []found{{Check: "a", Verdict: referee.Pass}, {Check: "b", Verdict: referee.Fail}}, Right},
		{"a wrong program fails for another reason", "s b", []found{{Check: "a", Verdict: referee.Fail}, {Check: "b", Verdict: referee.Fail}}, Off},
		{"a wrong program passes", "s b", []found{{Check: "b", Verdict: referee.Pass}}, Off},
		{"the right reason is muted", "s b", []found{{Check: "b", Verdict: referee.Inconclusive}}, Unsure},
		{"the right reason is muted, and a check after it fails", "s b", []found{{Check: "b", Verdict: referee.Inconclusive}, {Check: "c", Verdict: referee.Fail}}, Right},
		{"another reason is muted, and the right one holds", "s b", []found{{Check: "a", Verdict: referee.Inconclusive}, {Check: "b", Verdict: referee.Pass}}, Unsure},
		{"another has failed, and the right one holds", "s b", []found{{Check: "a", Verdict: referee.Fail}, {Check: "b", Verdict: referee.Pass}}, Off},
	} {
		g := referee.Grade{Verdict: referee.Pass, Scenarios: []referee.Result{{Name: "s", Verdict: referee.Pass, Findings: c.found}}}
		for _, f := range c.found {
			switch {
			case f.Verdict == referee.Fail, f.Verdict == referee.Inconclusive && g.Verdict == referee.Pass:
				g.Verdict = f.Verdict
			}
		}
		elsewhere := c.name == "another reason is muted, and the right one holds"
		if o := judge(c.want, g); o.Elsewhere != elsewhere || o.Mark != c.mark || (o.Why == "") != (c.mark == Right) {
			t.Errorf("%s: %+v, want %s", c.name, o, c.mark)
		}
	}
}
