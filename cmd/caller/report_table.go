package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// maxRows is how many runs the table lists one by one; of more it prints the
// summary only.
const maxRows = 20

// tableReport prints the table for people, once all is measured.
type tableReport struct {
	w    io.Writer
	opts *measureOptions
	rows []measurement // the first maxRows
	runs int
}

func newTableReport(o *measureOptions, w io.Writer) *tableReport {
	return &tableReport{w: w, opts: o}
}

func (r *tableReport) add(m measurement) error {
	r.runs++
	if len(r.rows) < maxRows {
		r.rows = append(r.rows, m)
	}
	return nil
}

func (r *tableReport) end(sums []summary) error {
	if r.runs == 0 {
		return nil
	}
	w := &errWriter{w: r.w}
	fmt.Fprintln(w, cli.Paragraph("limits  ", r.opts.limits()))
	fmt.Fprintln(w)
	if r.runs <= maxRows {
		t := newRunTable(w, "run", r.opts.partner != "")
		for _, m := range r.rows {
			t.add(r.caption(m), m.line())
		}
		t.Render()
		r.details(w)
	}
	if r.opts.runs > 1 {
		for i, s := range sums {
			if i > 0 || r.runs <= maxRows {
				fmt.Fprintln(w)
			}
			renderSummary(w, s)
		}
	}
	return w.err
}

// caption names a run: the listener or the address, and the number where there
// are several.
func (r *tableReport) caption(m measurement) string {
	where := m.target.url.Host
	if m.target.name != "" {
		where = m.target.name + "\n" + where
	}
	if r.opts.runs > 1 {
		return fmt.Sprintf("run %d\n%s", m.run, m.target.url.Host)
	}
	return where
}

// details says in full what one single run was, since there is room.
func (r *tableReport) details(w io.Writer) {
	if r.runs != 1 {
		return
	}
	m := r.rows[0]
	last := m.result.Last()
	var phases []string
	for _, p := range m.phases() {
		phases = append(phases, fmt.Sprintf("%s %s", p.phase, cli.Show(time.Duration(p.took))))
	}
	fmt.Fprintln(w)
	for _, line := range []struct{ head, text string }{
		{"target", m.target.String()},
		{"phases", strings.Join(phases, ", ")},
		{"answer", answer(last)},
		{"error", errorText(last.Err)},
		{"effect", effectInWords(m.result.Effect())},
		{"partner", m.partner.account()},
	} {
		if line.text != "" {
			fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%-8s", line.head), line.text))
		}
	}
}

// answer says what came back, empty if no head did.
func answer(last budgetcaller.Record) string {
	if last.Status == 0 {
		return ""
	}
	text := fmt.Sprintf("status %d, %d bytes", last.Status, last.Bytes)
	if last.Expected >= 0 {
		text += fmt.Sprintf(" of %d", last.Expected)
	}
	if last.RetryAfter != "" {
		text += ", Retry-After: " + last.RetryAfter
	}
	if last.Location != "" {
		text += ", Location: " + last.Location
	}
	return text
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func effectInWords(e budgetcaller.Effect) string {
	switch e {
	case budgetcaller.EffectAnswered:
		return "answered: the partner said what happened"
	case budgetcaller.EffectUnknown:
		return "unknown: it may have been carried out all the same"
	}
	return "none: it cannot have been carried out"
}

// runTable is the table of runs, two lines a row.
type runTable struct{ table.Writer }

// The widths of its columns. With two spaces between them they fit in
// cli.Width.
const (
	whatWidth    = 15 // an address with a port of five digits
	partnerWidth = 12
)

// newRunTable returns an empty one; partner says whether it has the partner's
// column.
func newRunTable(w io.Writer, what string, partner bool) runTable {
	t := cli.NewTable(w, what, "class\nphase", "limit\nconfigured", "actual\novershoot", "effect", "partner saw\nms (diff.)")
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 1, WidthMin: whatWidth, WidthMax: whatWidth, WidthMaxEnforcer: cli.Wrap},
		{Number: 4, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 6, WidthMax: partnerWidth, Hidden: !partner},
	})
	return runTable{t}
}

func (t runTable) add(what string, l measureLine) {
	configured, overshoot := "-", "-"
	if l.Configured != nil {
		configured = cli.ShowLimit(time.Duration(*l.Configured))
		overshoot = "+" + cli.Show(time.Duration(*l.Overshoot))
	}
	t.AppendRow(table.Row{
		what,
		l.Class.String() + "\nin " + l.Phase.String(),
		l.Limit.String() + "\n" + configured,
		cli.Show(time.Duration(l.Elapsed)) + "\n" + overshoot,
		l.Effect.String(),
		l.Partner.inWords(),
	})
}

// inWords returns the view in two short lines.
func (v *partnerView) inWords() string {
	switch {
	case v == nil:
		return "-"
	case v.Saw == sawUnknown:
		return "unknown"
	case v.Saw == sawNothing:
		return "nothing"
	}
	how := v.How
	switch v.EndedBy {
	case "client":
		how = "client left"
	case "":
		return "still at it"
	}
	difference := float64(time.Duration(*v.Difference)) / float64(time.Millisecond)
	return fmt.Sprintf("%s\n%s (%+.1f)", how, short(time.Duration(*v.Elapsed)), difference)
}

// short returns d in five characters: milliseconds as far as they go.
func short(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	case ms < 100_000:
		return strconv.FormatFloat(ms, 'f', 0, 64)
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + "s"
}

// account tells the view in one sentence, empty if nobody was asked.
func (v *partnerView) account() string {
	switch {
	case v == nil:
		return ""
	case v.Saw == sawUnknown:
		return "its record could not be read"
	case v.Saw == sawNothing:
		return "saw nothing of it"
	}
	text := "saw a connection, no whole request"
	if v.Saw == sawRequest {
		text = "saw the whole request"
	}
	switch v.EndedBy {
	case "client":
		text += "; the client left"
	case "partner":
		text += "; it ended it: " + v.How
	default:
		return text + "; it is still at it"
	}
	text += fmt.Sprintf(" after %s (ours less its: %+.1f ms)", cli.Show(time.Duration(*v.Elapsed)), float64(*v.Difference)/float64(time.Millisecond))
	if v.Asked != nil {
		text += fmt.Sprintf("; delay asked %s, delivered %s", cli.Show(time.Duration(*v.Asked)), cli.Show(time.Duration(*v.Delivered)))
	}
	if v.Effect == nil {
		return text
	}
	if *v.Effect {
		return text + "; it did the work"
	}
	return text + "; it did not do the work"
}

// renderSummary prints the summary of one target.
func renderSummary(w io.Writer, s summary) {
	fmt.Fprintf(w, "%d runs of %s\n\n", s.Runs, s.Target)
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

// errWriter keeps the first error of its writer, so that a table need not be
// checked line by line.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) Write(p []byte) (int, error) {
	if e.err == nil {
		_, e.err = e.w.Write(p)
	}
	return len(p), nil
}
