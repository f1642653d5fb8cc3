package main

import (
	"encoding/csv"
	"encoding/json"
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

// suggestSchema names the form of a suggestion's JSON line.
const suggestSchema = "caller.suggest/1"

// suggestion is what follows from calls, as JSON shows it.
type suggestion struct {
	Schema  string       `json:"schema"`
	Target  string       `json:"target"`
	Date    string       `json:"date"`
	Calls   int          `json:"calls"`
	Good    int          `json:"good"`
	Classes []classCount `json:"classes"`
	Factor  float64      `json:"factor"`
	Whole   *lie         `json:"elapsed_ms"` // null: none
	Silence *lie         `json:"silence_ms"`
	Connect *lie         `json:"connect_ms"`
	Limits  []suggested  `json:"limits"`
	Notes   []string     `json:"notes"`
	Paste   *paste       `json:"paste"` // null: nothing is suggested
	Refused string       `json:"refused,omitempty"`
}

// paste is what can be pasted into files, one line each.
type paste struct {
	Layers []string `json:"layers"` // of caller layers
	Plan   []string `json:"plan"`   // of caller screen
}

type classCount struct {
	Class budgetcaller.Class `json:"class"`
	Count int                `json:"count"`
}

// lie says how figures lie. What is beyond what anybody waited for, or needs
// more of them, is null.
type lie struct {
	N   int         `json:"n"`
	P50 *cli.Millis `json:"p50"`
	P90 *cli.Millis `json:"p90"`
	P99 *cli.Millis `json:"p99"`
	Max *cli.Millis `json:"max"`
}

func (f figures) spread() *lie {
	if f.n() == 0 {
		return nil
	}
	at := func(p, from int) *cli.Millis {
		d, ok := f.at(p, from)
		if !ok {
			return nil
		}
		ms := cli.Millis(d)
		return &ms
	}
	return &lie{N: f.n(), P50: at(50, 1), P90: at(90, p90From), P99: at(99, p99From), Max: at(100, 1)}
}

// toPaste returns the lines of a suggestion, nil if there is none.
func (s suggestion) toPaste() *paste {
	if len(s.Limits) == 0 {
		return nil
	}
	p := &paste{}
	for _, l := range s.Limits {
		switch l.Limit {
		case "attempt":
			p.Layers = append(p.Layers, l.as("limit"))
			p.Plan = append(p.Plan, l.as("attempt"))
		case "floor":
			p.Plan = append(p.Plan, l.as("floor"))
		}
	}
	return p
}

// as is the limit as a YAML file has it under that key.
func (l suggested) as(key string) string {
	reason, _ := json.Marshal(l.Reason) // a string of JSON is one of YAML, too
	return fmt.Sprintf("%s: {value: %v, reason: %s}", key, time.Duration(l.Value), reason)
}

// print prints s in the format of o.
func (s suggestion) print(w io.Writer, o *suggestOptions) error {
	s.Paste = s.toPaste()
	switch o.format.Value {
	case "json":
		if s.Notes == nil {
			s.Notes = []string{}
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(s)
	case "csv":
		return s.csv(w)
	}
	s.table(w, o)
	return nil
}

func (s suggestion) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{ // its error comes with Flush
		"limit", "value_ms", "low_ms", "high_ms", "percentile", "percentile_ms", "factor", "date", "samples", "source", "reason",
	})
	for _, l := range s.Limits {
		_ = out.Write([]string{
			l.Limit, l.Value.String(), millisCell(l.Low), millisCell(l.High), l.Percentile, l.Of.String(),
			strconv.FormatFloat(l.Factor, 'g', -1, 64), l.Date, strconv.Itoa(l.Samples), l.Source, l.Reason,
		})
	}
	out.Flush()
	return out.Error()
}

func (s suggestion) table(w io.Writer, o *suggestOptions) {
	fmt.Fprintln(w, cli.Wrap(fmt.Sprintf("%d calls of %s, %d at a time: %d good", s.Calls, s.Target, o.parallel, s.Good), cli.Width))
	s.lieTable(w)
	if len(s.Limits) > 0 {
		fmt.Fprintln(w)
		s.limitTable(w)
		fmt.Fprintln(w)
		for _, l := range s.Limits {
			fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%-9s", l.Limit), l.Reason))
		}
	}
	if len(s.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, note := range s.Notes {
		fmt.Fprintln(w, cli.Paragraph("note     ", note))
	}
	if s.Paste != nil { // not wrapped, so that it can be pasted
		fmt.Fprintf(w, "\nfor a file of caller layers:\n%s\n", strings.Join(s.Paste.Layers, "\n"))
		fmt.Fprintf(w, "for a plan of caller screen:\n%s\n", strings.Join(s.Paste.Plan, "\n"))
	}
}

func (s suggestion) lieTable(w io.Writer) {
	if s.Whole == nil && s.Connect == nil {
		return
	}
	fmt.Fprintln(w)
	t := rightTable(w, 2, "in ms", "n", "p50", "p90", "p99", "max")
	for _, row := range []struct {
		name string
		of   *lie
	}{{"whole call", s.Whole}, {"longest silence, at most", s.Silence}, {"connecting", s.Connect}} {
		if row.of != nil {
			t.AppendRow(table.Row{row.name, row.of.N, cell(row.of.P50), cell(row.of.P90), cell(row.of.P99), cell(row.of.Max)})
		}
	}
	t.Render()
}

func (s suggestion) limitTable(w io.Writer) {
	t := rightTable(w, 2, "limit", "suggested", "from", "of", "factor", "would do as well")
	for _, l := range s.Limits {
		would := "-"
		if l.Low != nil {
			would = cli.ShowLimit(time.Duration(*l.Low)) + " to " + cli.ShowLimit(time.Duration(*l.High))
		}
		t.AppendRow(table.Row{
			l.Limit, cli.ShowLimit(time.Duration(l.Value)), l.Percentile, cli.Show(time.Duration(l.Of)),
			strconv.FormatFloat(l.Factor, 'g', -1, 64), would,
		})
	}
	t.Render()
}

// rightTable is a table whose columns are aligned to the right from number from
// on.
func rightTable(w io.Writer, from int, head ...string) table.Writer {
	t := cli.NewTable(w, head...)
	var right []table.ColumnConfig
	for n := from; n <= len(head); n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return t
}

func cell(m *cli.Millis) string {
	if m == nil {
		return "-"
	}
	return strconv.FormatFloat(float64(time.Duration(*m))/float64(time.Millisecond), 'f', 2, 64)
}
