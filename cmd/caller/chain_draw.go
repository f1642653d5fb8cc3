package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

// The bounds of a drawing: of more it is said that it is too much to draw.
const (
	traceEvents = 5000
	drawWidth   = 64 // columns of time
	drawRows    = 24
	drawLabel   = 8
	toldNumbers = 10 // of each hop
	sameScale   = 8  // the longest run may be so many times the shortest to share its scale
)

// The marks of a drawing.
const (
	markStart  = '['
	markWait   = '-'
	markWork   = '='
	markNobody = '~'
	markFailed = 'x'
	markOK     = '+'
	markStop   = '/'
)

// picture is what is drawn of a run.
type picture struct {
	head string // above it; empty: it belongs to the one before it
	axis string // the word beside the times
	hops int
	unit int64 // how long is what the axis counts
	slop int64 // calls that overlap by no more than that have one row

	spans []deadlinechain.Span
	cut   bool // there were more
	entry int64
	told  [][]int64 // of each hop that tries
}

// drawChains draws the time line of each run.
func drawChains(w io.Writer, runs []chainRun) {
	pictures := make([]picture, len(runs))
	for i, r := range runs {
		pictures[i] = r.picture()
	}
	drawPictures(w, pictures)
}

func (r chainRun) picture() picture {
	p := picture{
		head: policyInWords(r.chain.Policy), axis: "time", hops: r.chain.Hops, unit: 1,
		spans: r.Trace.Spans(), cut: r.Trace.Cut,
	}
	if !p.cut {
		p.entry = r.Entry.Int64()
	}
	for hop := 1; hop < p.hops; hop++ {
		p.told = append(p.told, r.Trace.Told(hop))
	}
	return p
}

// drawPictures draws runs: a row for each hop and, where calls of a hop overlap,
// as many as that takes.
func drawPictures(w io.Writer, pictures []picture) {
	drawings := make([]drawing, len(pictures))
	any, most, least := false, int64(0), int64(0)
	for i, p := range pictures {
		d := layOut(p)
		drawings[i] = d
		if d.rows == nil {
			continue
		}
		most = max(most, d.end)
		if !any || d.end < least {
			least = d.end
		}
		any = true
	}
	if any {
		fmt.Fprintln(w, "\n= works  - waits  ~ for nobody  x failed  + ok  / told to stop")
	}
	for i, p := range pictures {
		d := drawings[i]
		if p.head != "" {
			fmt.Fprintf(w, "\n%s\n", p.head)
		}
		if d.rows == nil {
			fmt.Fprintf(w, "%*s(too many calls to draw; --format json has the figures)\n", drawLabel, "")
			continue
		}
		s := scale{total: max(1, d.end), unit: p.unit}
		if most/sameScale <= least {
			s.total = max(1, most) // so that one can be held against the other
		}
		fmt.Fprintln(w, s.axis(p.axis))
		for _, row := range d.rows {
			fmt.Fprintf(w, "%-*s%s\n", drawLabel, row.label, s.bar(row, p.entry))
		}
		for hop := 2; hop <= p.hops; hop++ {
			if told := toldInShort(p.told[hop-2]); told != "" {
				fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%-*s", drawLabel, ""), "time for "+hopName(p.hops, hop)+": "+told))
			}
		}
	}
}

// policyInWords returns the policy and what it is.
func policyInWords(p deadlinechain.Policy) string {
	words := "no deadline"
	switch p {
	case deadlinechain.Each:
		words = "every hop starts a budget of its own"
	case deadlinechain.Pass:
		words = "the entry's deadline is handed down"
	}
	return fmt.Sprintf("%-*s%s", drawLabel, p, words)
}

func hopName(hops, hop int) string {
	switch hop {
	case hops:
		return "leaf"
	case 1:
		return "entry"
	}
	return "hop " + strconv.Itoa(hop)
}

// lane is a row of a drawing: calls of one hop that do not overlap.
type lane struct {
	label string
	leaf  bool
	spans []deadlinechain.Span
}

// drawing is the calls of a run in rows.
type drawing struct {
	rows []lane // nil: too many to draw
	end  int64  // of the last call
}

func layOut(p picture) drawing {
	if p.cut || p.hops > drawRows {
		return drawing{}
	}
	byHop := make([][]lane, p.hops)
	var d drawing
	for _, s := range p.spans {
		d.end = max(d.end, s.End)
		lanes := byHop[s.Hop-1]
		i := slices.IndexFunc(lanes, func(l lane) bool { return l.spans[len(l.spans)-1].End <= s.Start+p.slop })
		if i < 0 {
			i = len(lanes)
			l := lane{leaf: s.Hop == p.hops}
			if i == 0 {
				l.label = hopName(p.hops, s.Hop)
			}
			lanes = append(lanes, l)
		}
		if n := len(lanes[i].spans); n > 0 {
			before := &lanes[i].spans[n-1]
			before.End = min(before.End, s.Start)
		}
		lanes[i].spans = append(lanes[i].spans, s)
		byHop[s.Hop-1] = lanes
	}
	d.rows = slices.Concat(byHop...)
	if len(d.rows) > drawRows {
		return drawing{}
	}
	return d
}

// scale turns times into columns.
type scale struct {
	total int64
	unit  int64 // of the times that the axis shows
}

func (s scale) column(at int64) int {
	return int(float64(at) / float64(s.total) * drawWidth)
}

// axis returns the line of times: as many as have room, at round numbers.
func (s scale) axis(word string) string {
	line := []byte(fmt.Sprintf("%-*s", drawLabel, word))
	total := s.total / s.unit
	step := roundStep(total)
	for at := int64(0); at <= total; at += step {
		mark := strconv.FormatInt(at, 10)
		column := drawLabel + s.column(at*s.unit)
		if column+len(mark) > cli.Width || at > 0 && len(line) >= column {
			continue
		}
		line = append(line, strings.Repeat(" ", max(0, column-len(line)))...)
		line = append(line, mark...)
	}
	return string(line)
}

// roundStep returns 1, 2 or 5 times a power of ten that divides total into at
// most eight parts.
func roundStep(total int64) int64 {
	const parts = 8
	for step := int64(1); ; step *= 10 {
		for _, n := range []int64{1, 2, 5} {
			if total/(step*n) <= parts {
				return step * n
			}
		}
	}
}

// bar draws the calls of one row.
func (s scale) bar(row lane, entryEnd int64) string {
	line := []rune(strings.Repeat(" ", drawWidth))
	entry := s.column(entryEnd)
	for _, span := range row.spans {
		from, to := s.column(span.Start), s.column(span.End)
		if to == from { // too short for a column of its own
			from = max(0, min(from, drawWidth-1))
			to = from + 1
		}
		fill := markWait
		if row.leaf {
			fill = markWork
		}
		for i := from; i < to; i++ {
			line[i] = fill
			if i >= entry {
				line[i] = markNobody
			}
		}
		line[from] = markStart
		switch span.How {
		case deadlinechain.Succeeded:
			line[to-1] = markOK
		case deadlinechain.Stopped:
			line[to-1] = markStop
		default:
			line[to-1] = markFailed
		}
	}
	return strings.TrimRight(string(line), " ")
}

// toldInShort lists the first of what the tries of a hop were told; nothing if
// that is nothing.
func toldInShort(told []int64) string {
	var words []string
	for i, t := range told {
		if t == deadlinechain.NotTold {
			return ""
		}
		if i == toldNumbers {
			words = append(words, fmt.Sprintf("... (%d in all)", len(told)))
			break
		}
		words = append(words, strconv.FormatInt(t, 10))
	}
	return strings.Join(words, ", ")
}
