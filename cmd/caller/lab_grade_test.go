package main

import (
	"bytes"
	"strings"
	"testing"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs"
	"chaoslab/labs/referee"
)

// TestGradeTable holds that what is printed of a grading fits 80 columns for every
// exercise, whatever came of it, and says what was left out and run anew.
func TestGradeTable(t *testing.T) {
	t.Parallel()
	all, err := labs.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, lab := range all {
		g := referee.Grade{Lab: lab.Number, Verdict: referee.Pass}
		for _, s := range lab.Scenarios {
			g.Scenarios = append(g.Scenarios, referee.Result{Name: s.Name, Tells: s.Tells, Verdict: referee.Inconclusive, Runs: 4})
		}
		g.LeftOut = []referee.LeftOut{{Name: "elsewhere", Why: "no private network on this system: in a user namespace: operation not permitted"}}
		var out, errs bytes.Buffer
		if err := printGrade(g, "table", cli.Streams{Out: &out, Err: &errs}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > cli.Width {
				t.Errorf("%s: %d columns, want at most %d: %s", lab.Folder(), n, cli.Width, line)
			}
		}
		squeezed := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{"left out no private network", "run 4 times"} {
			if !strings.Contains(squeezed, want) {
				t.Errorf("%s: %q is missing in\n%s", lab.Folder(), want, out.String())
			}
		}
	}
}
