package main

import (
	"bytes"
	"strings"
	"testing"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs"
	"chaoslab/labs/referee"
)

// TestFeedback holds that what is said of a failure fits 80 columns, in every
// exercise and whatever the program said, and loses nothing.
func TestFeedback(t *testing.T) {
	t.Parallel()
	long := referee.Finding{Check: "said", Verdict: referee.Inconclusive, Seen: strings.Repeat("x", 160), Expected: "short", Look: strings.Repeat("many words ", 20)}
	cases := map[string]string{"long words": long.Feedback("a-scenario-with-quite-a-long-name"), "nothing to say": referee.Finding{}.Feedback("")}
	all, err := labs.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, lab := range all {
		for _, s := range lab.Scenarios {
			for _, c := range s.Checks {
				f := referee.Finding{Check: c["check"], Verdict: referee.Fail, Seen: strings.Repeat(`{"a":"ok"} `, 14), Expected: c["word"], Look: c["look"]}
				cases[lab.Name+" "+s.Name+" "+c["look"]] = f.Feedback(s.Name)
			}
		}
	}
	for name, four := range cases {
		var out bytes.Buffer
		printFeedback(four, &out)
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > cli.Width {
				t.Errorf("%s: %d columns, want at most %d: %s", name, n, cli.Width, line)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(out.String()) != squeeze(four) {
			t.Errorf("%s: got\n%s\nof\n%s", name, out.String(), four)
		}
		for _, label := range []string{"\n  seen:", "\n  expected:", "\n  look at:"} {
			if strings.Count(out.String(), label) != 1 {
				t.Errorf("%s: %q is not there once:\n%s", name, label, out.String())
			}
		}
	}
}
