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

// drawChains draws the time line of each run: a row for each hop and, where
// calls of a hop overlap, as many as that takes.
func drawChains(w io.Writer, runs []chainRun) {
	drawings := make([]drawing, len(runs))
	any, most, least := false, int64(0), int64(0)
	for i, r := range runs {
		d := layOut(r)
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
	for i, r := range runs {
		d := drawings[i]
		fmt.Fprintf(w, "\n%-*s%s\n", drawLabel, r.chain.Policy, policyInWords(r.chain.Policy))
		if d.rows == nil {
			fmt.Fprintf(w, "%*s(too many calls to draw; --format json has the figures)\n", drawLabel, "")
			continue
		}
		s := scale{max(1, d.end)}
		if most/sameScale <= least {
			s = scale{max(1, most)} // so that one can be held against the other
		}
		fmt.Fprintln(w, s.axis())
		for _, row := range d.rows {
			fmt.Fprintf(w, "%-*s%s\n", drawLabel, row.label, s.bar(row, r.Entry.Int64()))
		}
		for hop := 2; hop <= r.chain.Hops; hop++ {
			if told := toldInShort(r.Trace.Told(hop - 1)); told != "" {
				fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%-*s", drawLabel, ""), "time for "+hopName(r.chain, hop)+": "+told))
			}
		}
	}
}

func policyInWords(p deadlinechain.Policy) string {
	switch p {
	case deadlinechain.Each:
		return "every hop starts a budget of its own"
	case deadlinechain.Pass:
		return "the entry's deadline is handed down"
	}
	return "no deadline"
}

func hopName(c deadlinechain.Chain, hop int) string {
	switch hop {
	case c.Hops:
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

func layOut(r chainRun) drawing {
	if r.Trace.Cut || r.chain.Hops > drawRows {
		return drawing{}
	}
	byHop := make([][]lane, r.chain.Hops)
	var d drawing
	for _, s := range r.Trace.Spans() {
		d.end = max(d.end, s.End)
		lanes := byHop[s.Hop-1]
		i := slices.IndexFunc(lanes, func(l lane) bool { return l.spans[len(l.spans)-1].End <= s.Start })
		if i < 0 {
			i = len(lanes)
			l := lane{leaf: s.Hop == r.chain.Hops}
			if i == 0 {
				l.label = hopName(r.chain, s.Hop)
			}
			lanes = append(lanes, l)
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
type scale struct{ total int64 }

func (s scale) column(at int64) int {
	return int(float64(at) / float64(s.total) * drawWidth)
}

// axis returns the line of times: as many as have room, at round numbers.
func (s scale) axis() string {
	line := []byte(fmt.Sprintf("%-*s", drawLabel, "time"))
	step := roundStep(s.total)
	for at := int64(0); at <= s.total; at += step {
		mark := strconv.FormatInt(at, 10)
		column := drawLabel + s.column(at)
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
