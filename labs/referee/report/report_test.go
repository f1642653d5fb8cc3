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

// TestTextsFit holds that nothing written in a picture runs over its right edge.
func TestTextsFit(t *testing.T) {
	t.Parallel()
	p := draw(referee.Result{
		Lines: map[string]float64{"connect limit": 300, "the kernel gives up": 960},
		Seen: &referee.Seen{
			Lives:    []referee.Life{{End: 1000}},
			Attempts: []referee.Attempt{{Listener: "shop", Kind: "connect", Start: 0, End: 30}, {Listener: "shop", Kind: "connect", Start: 900, End: 990, By: "client"}},
		},
	})
	ends := map[string]int{}
	for _, b := range p.Bars {
		ends[b.Anchor()]++
		if b.Anchor() == "start" && b.TextX()+charWide*float64(len(b.Text)) > edge || b.TextX() > edge {
			t.Errorf("bar %q begins at %v", b.Text, b.TextX())
		}
	}
	for _, l := range p.Lines {
		ends[l.Anchor()]++
		if l.Anchor() == "start" && l.TextX()+charWide*float64(len(l.Text)) > edge || l.TextX() > edge {
			t.Errorf("limit %q begins at %v", l.Text, l.TextX())
		}
	}
	if ends["end"] != 2 {
		t.Errorf("texts by anchor: %v, want two that end at the edge", ends)
	}
	for _, tick := range p.Ticks {
		if tick.X > edge-unitWide {
			t.Errorf("tick %q at %v stands on the unit", tick.Text, tick.X)
		}
	}
}

func TestConfinementAndLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g    referee.Grade
		want []string
	}{
		{referee.Grade{Confined: true}, []string{"it could write only in its folder"}},
		{referee.Grade{Loose: "no Landlock"}, []string{"it was not kept from writing elsewhere: no Landlock"}},
		{referee.Grade{LeftOut: []referee.LeftOut{{Name: "the-kernel", Why: "no network"}}}, []string{"<h2>Left out", "<td>the-kernel<td>no network"}},
		{
			referee.Grade{Scenarios: []referee.Result{{Name: "s", Seen: &referee.Seen{Refused: "Permission denied: /x"}}}},
			[]string{"refused, as it seems outside its folder:</strong> Permission denied: /x"},
		},
	} {
		var page bytes.Buffer
		if err := Write(&page, c.g); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%+v: %q is missing in the page", c.g, want)
			}
		}
	}
}
