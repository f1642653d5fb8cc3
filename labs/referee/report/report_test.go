package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"chaoslab/labs/referee"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	g := referee.Grade{
		Lab: 1, Title: "A <b>title</b>", Seed: 7, At: time.Unix(0, 0), Verdict: referee.Fail,
		Scenarios: []referee.Result{
			{
				Name: "silent", Verdict: referee.Fail, Lines: map[string]float64{"read limit": 100},
				Findings: []referee.Finding{{Check: "took", Verdict: referee.Fail, Seen: "300 ms", Expected: "100 ms", Look: "the limit"}},
				Seen: &referee.Seen{
					Attempts: []referee.Attempt{{Listener: "shop", Kind: "request", Start: 10, End: 310, By: "client", How: "closed"}},
					Lives:    []referee.Life{{End: 320}},
					Lines:    []referee.Line{{At: 5, Text: "<script>alert(1)</script>"}},
				},
			},
			{Name: "never", Verdict: referee.Inconclusive, Seen: &referee.Seen{Lives: []referee.Life{{End: 1}}}},
			{Name: "not run"},
		},
	}
	var page bytes.Buffer
	if err := Write(&page, g); err != nil {
		t.Fatal(err)
	}
	html := page.String()
	for _, want := range []string{`class="over"`, "read limit", "300 ms, closed, left by the program", "saw nothing", "&lt;script&gt;", "--seed 7"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing in the page", want)
		}
	}
	for _, bad := range []string{"<script", "http://", "https://", "<b>title", "NaN", "ZgotmplZ"} {
		if strings.Contains(html, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
}

func TestTick(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ end, want float64 }{{1, 0.2}, {800, 100}, {900, 200}, {5000, 1000}, {10000, 2000}} {
		if got := tick(c.end); got != c.want {
			t.Errorf("tick(%v) = %v, want %v", c.end, got, c.want)
		}
	}
}
