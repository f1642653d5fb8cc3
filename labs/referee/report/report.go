package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"

	"chaoslab/labs/referee"
)

//go:embed page.html
var files embed.FS

// Write writes the page of a grading.
func Write(w io.Writer, g referee.Grade) error {
	t, err := template.New("page.html").ParseFS(files, "page.html")
	if err != nil {
		return err
	}
	p := page{Grade: g, When: g.At.UTC().Format("2006-01-02 15:04:05 UTC")}
	for _, r := range g.Scenarios {
		p.Drawn = append(p.Drawn, drawn{Result: r, Picture: draw(r), Env: pairs(r.Env)})
	}
	return t.Execute(w, p)
}

// page is what the template is filled with.
type page struct {
	referee.Grade
	When  string
	Drawn []drawn
}

type drawn struct {
	referee.Result
	Picture picture
	Env     []pair
}

type pair struct{ Name, Value string }

func pairs(m map[string]string) []pair {
	var all []pair
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, pair{name, m[name]})
	}
	return all
}

// picture is one scenario in the units of its drawing.
type picture struct {
	Height   int
	Axis     int // where the axis is
	Bars     []bar
	Lines    []line
	Dots     []dot
	Ticks    []line
	Lanes    []label
	OverFrom float64 // what lies beyond the last limit; OverWidth 0: nothing
	OverWide float64
	OverTall int
}

type bar struct {
	X, Width     float64
	Y            int
	Class, Title string
	Text         string
}

// TextX and Anchor are where the text is: inside the bar, or ending at the right
// edge if it does not fit.
func (b bar) TextX() float64 { return textX(b.X+5, b.Text) }

// Anchor says which end of the text TextX is.
func (b bar) Anchor() string { return anchor(b.X+5, b.Text) }

type line struct {
	X    float64
	Y    int
	Text string
}

// TextX and Anchor are where the name of a limit is: behind it, or before it at the
// right edge.
func (l line) TextX() float64 {
	if l.Anchor() == "end" {
		return l.X - 4
	}
	return l.X + 4
}

// Anchor says which end of the name TextX is.
func (l line) Anchor() string { return anchor(l.X+4, l.Text) }

// textX is x, or the right edge for a text that would run over it.
func textX(x float64, text string) float64 {
	if anchor(x, text) == "end" {
		return edge
	}
	return x
}

func anchor(x float64, text string) string {
	if x+charWide*float64(len([]rune(text))) > edge {
		return "end"
	}
	return "start"
}

type dot struct {
	X     float64
	Y     int
	Title string
}

type label struct {
	Y    int
	Text string
}

// The drawing's measures.
const (
	left     = 110.0 // of the lanes' names
	wide     = 780.0
	rowTall  = 22
	top      = 34
	maxBars  = 60
	minWidth = 2.0
	edge     = 894.0 // no text goes beyond it
	charWide = 6.0   // of the drawing's font, about
	unitWide = 40.0  // of the unit at the end of the axis
)

func draw(r referee.Result) picture {
	var p picture
	if r.Seen == nil {
		return p
	}
	end := 1.0
	for _, l := range r.Seen.Lives {
		end = math.Max(end, l.End)
	}
	for _, a := range r.Seen.Attempts {
		end = math.Max(end, a.End)
	}
	for _, reply := range r.Seen.Replies {
		end = math.Max(end, reply.End)
	}
	first := r.Seen.First()
	for _, ms := range r.Lines {
		end = math.Max(end, first+ms)
	}
	end *= 1.04
	x := func(ms float64) float64 { return left + math.Max(0, ms)/end*wide }
	y := top
	p.Lanes = append(p.Lanes, label{y + 15, "program"})
	for i, l := range r.Seen.Lives {
		class := "program"
		if l.Killed && len(r.Seen.Replies) == 0 { // a server is ended when its work is done
			class = "killed"
		}
		p.Bars = append(p.Bars, bar{x(l.Start), math.Max(minWidth, x(l.End)-x(l.Start)), y, class, fmt.Sprintf("run %d: %.0f to %.0f ms, exit %d", i+1, l.Start, l.End, l.Exit), ""})
	}
	for _, l := range r.Seen.Lines {
		p.Dots = append(p.Dots, dot{x(l.At), y + 9, fmt.Sprintf("%.0f ms: %s", l.At, l.Text)})
	}
	y += rowTall + 6
	y = p.calls(r, x, y)
	y = p.attempts(r, x, y)
	p.limits(r, x, first, end, y)
	p.Axis = y
	p.Height, p.OverTall = y+30, y-26
	step := tick(end)
	for ms := 0.0; ms <= end; ms += step {
		if x(ms) > edge-unitWide {
			break
		}
		p.Ticks = append(p.Ticks, line{x(ms), y, fmt.Sprintf("%.0f", ms)})
	}
	return p
}

// calls draws the calls that the referee made to the program.
func (p *picture) calls(r referee.Result, x func(float64) float64, y int) int {
	for i, reply := range r.Seen.Replies {
		if i == 0 {
			p.Lanes = append(p.Lanes, label{y + 15, "its caller"})
		}
		if i == maxBars {
			break
		}
		p.Bars = append(p.Bars, bar{x(reply.Start), math.Max(minWidth, x(reply.End)-x(reply.Start)), y, "call", fmt.Sprintf("call %d: status %d after %.0f ms", i+1, reply.Status, reply.End-reply.Start), ""})
	}
	if len(r.Seen.Replies) > 0 {
		y += rowTall + 6
	}
	return y
}

// attempts draws what the partners saw, one row each.
func (p *picture) attempts(r referee.Result, x func(float64) float64, y int) int {
	name := ""
	for i, a := range r.Seen.Attempts {
		if i == maxBars {
			p.Lanes = append(p.Lanes, label{y + 15, fmt.Sprintf("… %d more", len(r.Seen.Attempts)-i)})
			return y + rowTall
		}
		if a.Listener != name {
			name = a.Listener
			p.Lanes = append(p.Lanes, label{y + 15, name})
		}
		class := "answered"
		switch {
		case a.Kind == "connect":
			class = "connect"
		case a.By == "client":
			class = "left"
		case a.How != "answered":
			class = "broken"
		}
		text := fmt.Sprintf("%.0f ms, %s", a.Took(), a.How)
		if a.Kind == "connect" {
			text = fmt.Sprintf("%.0f ms, no answer to its SYN", a.Took())
		}
		if a.By == "client" {
			text += ", left by the program"
		}
		if a.Entry.Status != 0 {
			text += fmt.Sprintf(" (%d)", a.Entry.Status)
		}
		p.Bars = append(p.Bars, bar{x(a.Start), math.Max(minWidth, x(a.End)-x(a.Start)), y, class, fmt.Sprintf("%s: %.0f to %.0f ms", a.Kind, a.Start, a.End), text})
		y += rowTall
	}
	if len(r.Seen.Attempts) == 0 {
		p.Lanes = append(p.Lanes, label{y + 15, "partner"})
		p.Bars = append(p.Bars, bar{left, 0, y, "answered", "", "saw nothing"})
		y += rowTall
	}
	return y
}

// limits draws the limits, and shades what went on beyond the last of them.
func (p *picture) limits(r referee.Result, x func(float64) float64, first, end float64, y int) {
	last := 0.0
	for i, name := range slices.Sorted(maps.Keys(r.Lines)) {
		at := first + r.Lines[name]
		last = math.Max(last, at)
		p.Lines = append(p.Lines, line{x(at), 12 + 11*(i%2), name})
	}
	busy := 0.0
	for _, a := range r.Seen.Attempts {
		busy = math.Max(busy, a.End)
	}
	if last > 0 && busy > last+1 {
		p.OverFrom, p.OverWide = x(last), x(math.Min(busy, end))-x(last)
	}
}

// tick returns a round step that gives some eight ticks.
func tick(end float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(end/8)))
	for _, m := range []float64{1, 2, 5, 10} {
		if end/(step*m) <= 8 {
			return step * m
		}
	}
	return step * 10
}
