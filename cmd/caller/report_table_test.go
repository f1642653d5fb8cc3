package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
)

func TestTableListsEveryResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ targets, runs, rows, summaries int }{
		"one of each of more URLs than rows": {targets: maxRows + 1, runs: 1, rows: maxRows + 1},
		"one of each of many URLs":           {targets: 100, runs: 1, rows: 100},
		"few runs":                           {targets: 2, runs: maxRows / 2, rows: maxRows, summaries: 2},
		"more runs than rows":                {targets: 2, runs: maxRows/2 + 1, summaries: 2},
		"one run of each interrupted early":  {targets: 0, runs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			urls := []string{local, "-n", fmt.Sprint(c.runs)}
			for i := range c.targets {
				urls = append(urls, fmt.Sprintf("%s%d", local, i))
			}
			o, _, _ := parseArgs(t, "", urls...)
			var out bytes.Buffer
			r := newReport(o, cli.Streams{Out: &out})
			var sums []summary
			for _, target := range o.targets[1:] {
				tl := newTally(target)
				for run := range c.runs {
					m := whole(run+1, time.Millisecond)
					m.target = target
					if err := r.add(m); err != nil {
						t.Fatal(err)
					}
					tl.add(m)
				}
				sums = append(sums, tl.summary())
			}
			if err := r.end(sums); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), "in body"); got != c.rows {
				t.Errorf("%d URLs, %d runs: %d rows, want %d:\n%s", c.targets, c.runs, got, c.rows, out.String())
			}
			if got := strings.Count(out.String(), " runs of "); got != c.summaries {
				t.Errorf("%d URLs, %d runs: %d summaries, want %d:\n%s", c.targets, c.runs, got, c.summaries, out.String())
			}
		})
	}
}
