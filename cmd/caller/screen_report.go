package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/cli"
)

// screenReport prints what became of a plan.
type screenReport struct {
	plan   *screenPlan
	notes  []screen.Note
	format string
	to     cli.Streams
}

// screenSchema names the form of a screen as JSON.
const screenSchema = "caller.screen/1"

// screenObject is a screen as JSON shows it. A check has the first half only.
type screenObject struct {
	Schema  string         `json:"schema"`
	Screen  string         `json:"screen"`
	Budget  cli.Millis     `json:"budget_ms"`
	Reserve cli.Millis     `json:"reserve_ms"`
	Verdict screen.Verdict `json:"verdict"`
	Notes   []screenNote   `json:"notes"`
	Numbers []planNumber   `json:"numbers,omitempty"`
	*screenOutcome
}

type screenNote struct {
	Topic   screen.Topic   `json:"topic"`
	Part    string         `json:"part"`
	Verdict screen.Verdict `json:"verdict"`
	Text    string         `json:"text"`
}

// screenOutcome is what came of running it.
type screenOutcome struct {
	Elapsed  cli.Millis          `json:"elapsed_ms"`
	Left     cli.Millis          `json:"left_ms"`
	Effect   budgetcaller.Effect `json:"effect"`
	Degraded []string            `json:"degraded"`
	Parts    []screenPartObject  `json:"parts"`
	Lines    []screenLine        `json:"lines"`
	Answer   json.RawMessage     `json:"answer"`
	Error    string              `json:"error"`
}

type screenPartObject struct {
	Name     string              `json:"name"`
	Required bool                `json:"required"`
	Source   screen.Source       `json:"source"`
	Age      *cli.Millis         `json:"age_ms"`
	Class    string              `json:"class"`
	Phase    budgetcaller.Phase  `json:"phase"`
	Limit    budgetcaller.Limit  `json:"limit"`
	Effect   budgetcaller.Effect `json:"effect"`
	Status   int                 `json:"status"`
	Called   bool                `json:"called"`
	Left     cli.Millis          `json:"left_before_ms"`
	Waited   cli.Millis          `json:"waited_ms"`
	Used     cli.Millis          `json:"used_ms"`
	After    cli.Millis          `json:"left_after_ms"`
	Why      string              `json:"why"`
	Error    string              `json:"error"`
}

type screenLine struct {
	Part     string             `json:"part"`
	Try      int                `json:"try"`
	Fallback bool               `json:"fallback"`
	At       cli.Millis         `json:"at_ms"`
	Left     cli.Millis         `json:"left_before_ms"`
	LimitMs  *cli.Millis        `json:"limit_ms"`
	Waited   cli.Millis         `json:"waited_ms"`
	Used     cli.Millis         `json:"used_ms"`
	Class    string             `json:"class"`
	Phase    budgetcaller.Phase `json:"phase"`
	Limit    budgetcaller.Limit `json:"limit"`
	Status   int                `json:"status"`
	After    cli.Millis         `json:"left_after_ms"`
	Called   bool               `json:"called"`
	Why      string             `json:"why"`
}

// object returns the first half of the JSON.
func (r *screenReport) object() screenObject {
	o := screenObject{
		Schema: screenSchema, Screen: r.plan.name,
		Budget: cli.Millis(r.plan.budget.D), Reserve: cli.Millis(r.plan.reserveInForce()),
		Verdict: screen.Worst(r.notes), Notes: []screenNote{},
	}
	for _, n := range r.notes {
		o.Notes = append(o.Notes, screenNote(n))
	}
	return o
}

// reserveInForce returns the reserve that the plan has, or gets by default.
func (p *screenPlan) reserveInForce() time.Duration {
	switch p.reserve.D {
	case 0:
		return min(screen.DefaultReserve, p.budget.D/10)
	case screen.NoReserve:
		return 0
	}
	return p.reserve.D
}

// outcomeOf returns the second half.
func outcomeOf(res *screen.Result) (*screenOutcome, error) {
	o := &screenOutcome{
		Elapsed: cli.Millis(res.Elapsed), Left: cli.Millis(res.Left), Effect: res.Effect(),
		Degraded: res.Degraded, Lines: []screenLine{},
	}
	for i := range res.Parts {
		p := &res.Parts[i]
		part := screenPartObject{
			Name: p.Name, Required: p.Required, Source: p.Source, Class: classWord(p.Class), Phase: p.Phase,
			Limit: p.Limit, Effect: p.Effect, Status: p.Status, Called: p.Called, Left: cli.Millis(p.Left),
			Waited: cli.Millis(p.Waited), Used: cli.Millis(p.Used), After: cli.Millis(p.LeftAfter),
			Why: p.Why, Error: errorText(p.Err),
		}
		if p.Source == screen.SourceOld {
			part.Age = (*cli.Millis)(&p.Age)
		}
		o.Parts = append(o.Parts, part)
	}
	for _, l := range res.Lines() {
		line := screenLine{
			Part: l.Part, Try: l.Try, Fallback: l.Fallback, At: cli.Millis(l.At), Left: cli.Millis(l.Left),
			Waited: cli.Millis(l.Waited), Used: cli.Millis(l.Used), Class: classWord(l.Class), Phase: l.Phase,
			Limit: l.Fired, Status: l.Status, After: cli.Millis(l.LeftAfter), Called: l.Called, Why: l.Why,
		}
		if l.Called {
			line.LimitMs = (*cli.Millis)(&l.Limit)
		}
		o.Lines = append(o.Lines, line)
	}
	if res.Err != nil {
		o.Error = res.Err.Error()
		return o, nil
	}
	var err error
	o.Answer, err = res.MarshalJSON()
	return o, err
}

// check prints what there is to say about the plan before it is run.
func (r *screenReport) check() error {
	o := r.object()
	o.Numbers = r.plan.numbers
	switch r.format {
	case "json":
		return r.json(o)
	case "csv":
		rows := [][]string{{"part", "number", "value", "reason"}}
		for _, n := range o.Numbers {
			rows = append(rows, []string{n.Part, n.Name, n.Value, n.Reason})
		}
		return r.csv(rows)
	}
	return r.checkTable()
}

// verdict is the error of a check whose plan cannot hold.
func (r *screenReport) verdict() error {
	if screen.Worst(r.notes) < screen.CannotHold {
		return nil
	}
	for _, n := range r.notes {
		if n.Verdict == screen.CannotHold {
			return cli.Exit(cli.ExitFailed, fmt.Errorf("%s: this plan cannot hold: %s", r.plan.name, noteText(n)))
		}
	}
	return cli.Exit(cli.ExitFailed, errors.New("this plan cannot hold"))
}

func noteText(n screen.Note) string {
	if n.Part == "" {
		return n.Text
	}
	return n.Part + ": " + n.Text
}

// result prints what became of the screen.
func (r *screenReport) result(res *screen.Result) error {
	out, err := outcomeOf(res)
	if err != nil {
		return err
	}
	switch r.format {
	case "json":
		o := r.object()
		o.screenOutcome = out
		return r.json(o)
	case "csv":
		return r.csv(out.rows())
	}
	return r.table(res, out)
}

func (r *screenReport) json(o screenObject) error {
	e := json.NewEncoder(r.to.Out)
	e.SetEscapeHTML(false)
	return e.Encode(o)
}

func (r *screenReport) csv(rows [][]string) error {
	w := csv.NewWriter(r.to.Out)
	_ = w.WriteAll(rows) // its error is kept for Error
	return w.Error()
}

// rows returns the lines as CSV has them, with their head.
func (o *screenOutcome) rows() [][]string {
	rows := [][]string{{
		"part", "try", "fallback", "at_ms", "left_before_ms", "limit_ms", "waited_ms", "used_ms",
		"class", "phase", "limit", "status", "left_after_ms", "called", "why",
	}}
	for _, l := range o.Lines {
		rows = append(rows, []string{
			l.Part, strconv.Itoa(l.Try), strconv.FormatBool(l.Fallback), l.At.String(), l.Left.String(), millisCell(l.LimitMs),
			l.Waited.String(), l.Used.String(), l.Class, l.Phase.String(), l.Limit.String(), strconv.Itoa(l.Status),
			l.After.String(), strconv.FormatBool(l.Called), l.Why,
		})
	}
	return rows
}
