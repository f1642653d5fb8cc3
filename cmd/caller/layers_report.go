package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/layers"
)

// layersSchema names the form of an audit's JSON line.
const layersSchema = "caller.layers/1"

// auditLine is an audit as JSON shows it.
type auditLine struct {
	Schema   string         `json:"schema"`
	File     string         `json:"file"`
	Name     string         `json:"name"`
	Verdict  layers.Verdict `json:"verdict"` // the worst of the layers'
	Calls    int64          `json:"calls"`   // at the bottom, for one request from outside
	Load     *int64         `json:"calls_per_second"`
	Layers   []layerLine    `json:"layers"` // from the outside in
	Warnings []warningLine  `json:"warnings"`
}

// layerLine is one layer. What the outermost has no answer to is null.
type layerLine struct {
	Name     string         `json:"name"`
	Verdict  layers.Verdict `json:"verdict"`
	Limit    cli.Millis     `json:"limit_ms"`
	Reason   string         `json:"limit_reason"`
	Retries  int            `json:"retries"`
	Waits    cli.Millis     `json:"waits_ms"`
	Deadline string         `json:"deadline"`
	Worst    cli.Millis     `json:"worst_ms"`
	Outside  *string        `json:"outside"`
	Allowed  *cli.Millis    `json:"allowed_ms"`
	Used     *float64       `json:"used"`
	Over     *cli.Millis    `json:"over_ms"` // how long it goes on for nobody
	Cut      bool           `json:"cut_by_deadline"`
	Calls    int64          `json:"calls"`
	Load     *int64         `json:"calls_per_second"`
	Why      string         `json:"why"`
}

type warningLine struct {
	Layer string `json:"layer"`
	Key   string `json:"key"`
	What  string `json:"what"`
}

func lineOfLayer(f layers.Finding) layerLine {
	l := layerLine{
		Name: f.Layer.Name, Verdict: f.Verdict,
		Limit: cli.Millis(f.Layer.Limit.D), Reason: f.Layer.Limit.Reason,
		Retries: f.Layer.Retries.N, Waits: cli.Millis(f.Waits), Deadline: f.Layer.Deadline.String(),
		Worst: cli.Millis(f.Worst), Cut: f.Cut, Calls: f.Calls, Why: f.Why(),
	}
	if f.Outside != "" {
		allowed, over, used := cli.Millis(f.Allowed), cli.Millis(f.Over), f.Used()
		l.Outside, l.Allowed, l.Over, l.Used = &f.Outside, &allowed, &over, &used
	}
	if f.PerSecond > 0 {
		l.Load = &f.PerSecond
	}
	return l
}

func layersJSON(w io.Writer, file string, c layers.Chain, a layers.Audit) error {
	line := auditLine{Schema: layersSchema, File: file, Name: c.Name, Verdict: a.Verdict, Warnings: []warningLine{}}
	for _, f := range a.Findings {
		l := lineOfLayer(f)
		line.Layers = append(line.Layers, l)
		line.Calls, line.Load = l.Calls, l.Load
	}
	for _, w := range a.Warnings {
		line.Warnings = append(line.Warnings, warningLine{w.Layer, w.Key, w.What})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(line)
}

func layersCSV(w io.Writer, a layers.Audit) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{ // its error comes with Flush
		"layer", "verdict", "limit_ms", "limit_reason", "retries", "waits_ms", "deadline", "worst_ms",
		"outside", "allowed_ms", "used", "over_ms", "calls", "calls_per_second",
	})
	for _, f := range a.Findings {
		l := lineOfLayer(f)
		verdict, _ := l.Verdict.MarshalText()
		used, load := "", ""
		if l.Used != nil {
			used = strconv.FormatFloat(*l.Used, 'f', 3, 64)
		}
		if l.Load != nil {
			load = strconv.FormatInt(*l.Load, 10)
		}
		_ = out.Write([]string{
			l.Name, string(verdict), l.Limit.String(), l.Reason, strconv.Itoa(l.Retries), l.Waits.String(), l.Deadline, l.Worst.String(),
			f.Outside, millisCell(l.Allowed), used, millisCell(l.Over), strconv.FormatInt(l.Calls, 10), load,
		})
	}
	out.Flush()
	return out.Error()
}

// layerWidth is the widest that a name may be in the table, so that all columns
// fit in cli.Width; longer ones are broken.
const layerWidth = 14

func layersTable(w io.Writer, c layers.Chain, a layers.Audit) {
	if c.Name != "" {
		fmt.Fprintf(w, "%s\n\n", cli.Wrap(c.Name, cli.Width))
	}
	t := cli.NewTable(w, "layer", "limit", "tries", "waits", "at worst", "has", "used", "verdict")
	columns := []table.ColumnConfig{{Number: 1, WidthMax: layerWidth, WidthMaxEnforcer: breakLines}}
	for n := 2; n <= 7; n++ {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, f := range a.Findings {
		waits, has, used, verdict := "-", "-", "-", "-"
		if f.Waits > 0 {
			waits = cli.ShowLimit(f.Waits)
		}
		if f.Outside != "" {
			has, used, verdict = cli.ShowLimit(f.Allowed), percent(f.Used()), f.Verdict.String()
		}
		if f.Cut {
			verdict = "adopted"
		}
		t.AppendRow(table.Row{
			f.Layer.Name, cli.ShowLimit(f.Layer.Limit.D), strconv.Itoa(f.Layer.Retries.N + 1), waits,
			cli.ShowLimit(f.Worst), has, used, verdict,
		})
	}
	t.Render()
	fmt.Fprintln(w)
	for _, f := range a.Findings {
		if f.Verdict != layers.Sound || f.Cut {
			fmt.Fprintln(w, cli.Wrap(f.Layer.Name+" "+verdictInWords(f), cli.Width))
		}
	}
	last := a.Findings[len(a.Findings)-1]
	if last.Calls > 1 {
		fmt.Fprintf(w, "tries multiply: one request from outside may become %d calls at the bottom\n", last.Calls)
	}
	if last.PerSecond > 0 {
		fmt.Fprintln(w, cli.Wrap(fmt.Sprintf("load: %d instances x %d/s x %d calls: up to %d/s at the bottom if they fail",
			c.Instances.N, c.PerSecond.N, last.Calls, last.PerSecond), cli.Width))
	}
	for _, warning := range a.Warnings {
		fmt.Fprintln(w, cli.Paragraph("warning ", warning.String()))
	}
	fmt.Fprintln(w, "verdict: "+a.Verdict.String())
}

func verdictInWords(f layers.Finding) string {
	switch {
	case f.Verdict == layers.CannotHold && f.Over > 0:
		return fmt.Sprintf("cannot hold: %s; it may work on for nobody for %v", f.Why(), f.Over)
	case f.Cut:
		return "holds: " + f.Why()
	}
	return f.Verdict.String() + ": " + f.Why()
}
