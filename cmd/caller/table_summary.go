package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/cmd/internal/cli"
)

// renderSummary prints the summary of one target.
func renderSummary(w io.Writer, s summary) {
	runs := "runs"
	if s.Runs == 1 {
		runs = "run"
	}
	fmt.Fprintln(w, fold(fmt.Sprintf("%d %s of %s", s.Runs, runs, s.Target), cli.Width-len("100000 runs of ")))
	if s.Stopped != nil {
		fmt.Fprintf(w, "%d attempts were made for them\n", s.Attempts)
	}
	fmt.Fprintln(w)
	t := cli.NewTable(w, "class", "in ms", "n", "min", "p50", "p90", "p99", "max")
	var right []table.ColumnConfig
	for n := 3; n <= 8; n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	gaps := false
	for _, c := range s.Classes {
		name := c.Class.String()
		for _, line := range []struct {
			what string
			of   *spread
		}{{"actual", c.Elapsed}, {"overshoot", c.Overshoot}, {"difference", c.Difference}} {
			if line.of == nil {
				continue
			}
			gaps = gaps || line.of.P90 == nil || line.of.P99 == nil
			t.AppendRow(append(table.Row{name, line.what}, line.of.cells()...))
			name = ""
		}
	}
	t.Render()
	if s.Stopped != nil {
		fmt.Fprintln(w)
	}
	for _, why := range slices.Sorted(maps.Keys(s.Stopped)) {
		fmt.Fprintln(w, cli.Paragraph("stopped  ", fmt.Sprintf("%d: %s", s.Stopped[why], why)))
	}
	if gaps {
		fmt.Fprintf(w, "\n-: too few runs to say: p90 from %d, p99 from %d\n", p90From, p99From)
	}
}

// cells returns n, min, p50, p90, p99 and max as a table shows them.
func (s *spread) cells() table.Row {
	row := table.Row{strconv.Itoa(s.N)}
	for _, v := range []*cli.Millis{&s.Min, &s.P50, s.P90, s.P99, &s.Max} {
		if v == nil {
			row = append(row, "-")
			continue
		}
		ms := float64(time.Duration(*v)) / float64(time.Millisecond)
		row = append(row, strconv.FormatFloat(ms, 'f', 2, 64))
	}
	return row
}
