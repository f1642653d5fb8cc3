package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// report prints measurements. add is called as each ends, end once after the
// last one.
type report interface {
	add(m measurement) error
	end(sums []summary) error
}

// newReport returns the report that --format asks for. Where it is not a table,
// which has them in its head, the limits in force are told on stderr.
func newReport(o *measureOptions, s cli.Streams) report {
	if o.format.Value == "table" {
		return newTableReport(o, s.Out)
	}
	fmt.Fprintf(s.Err, "limits: %s\n", o.limits())
	if o.format.Value == "csv" {
		return &csvReport{w: csv.NewWriter(s.Out)}
	}
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	return &jsonReport{enc: e, summed: o.runs > 1}
}

// jsonReport prints one object a line as soon as there is one.
type jsonReport struct {
	enc    *json.Encoder
	summed bool
}

func (r *jsonReport) add(m measurement) error { return r.enc.Encode(m.line()) }

func (r *jsonReport) end(sums []summary) error {
	for _, s := range sums {
		if !r.summed {
			break
		}
		if err := r.enc.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// csvReport prints a head and one row a run. The columns are always the same;
// what is not known is an empty cell.
type csvReport struct {
	w      *csv.Writer
	headed bool
}

func (r *csvReport) add(m measurement) error {
	r.head()
	l := m.line()
	row := []string{
		strconv.Itoa(l.Run), l.Target, l.Class.String(), l.Phase.String(), l.Limit.String(), l.Effect.String(),
		millisCell(l.Configured), l.Elapsed.String(), millisCell(l.Overshoot),
		strconv.Itoa(l.Attempts), strconv.Itoa(l.Status), strconv.FormatInt(l.Bytes, 10), strconv.FormatInt(l.Expected, 10),
	}
	byPhase := map[budgetcaller.Phase]string{}
	for _, p := range l.Phases {
		byPhase[p.phase] = p.took.String()
	}
	for _, p := range budgetcaller.Phases() {
		row = append(row, byPhase[p])
	}
	v := m.partner
	if v == nil {
		v = &partnerView{}
	}
	row = append(row, v.Saw, millisCell(v.Elapsed), v.EndedBy, millisCell(v.Difference), l.Error)
	if err := r.w.Write(row); err != nil {
		return err
	}
	r.w.Flush()
	return r.w.Error()
}

func (r *csvReport) end([]summary) error {
	r.head()
	r.w.Flush()
	return r.w.Error()
}

// head writes the head, once.
func (r *csvReport) head() {
	if r.headed {
		return
	}
	r.headed = true
	row := []string{
		"run", "target", "class", "phase", "limit", "effect", "configured_ms", "elapsed_ms", "overshoot_ms",
		"attempts", "status", "bytes", "expected_bytes",
	}
	for _, p := range budgetcaller.Phases() {
		row = append(row, p.String()+"_ms")
	}
	row = append(row, "partner_saw", "partner_elapsed_ms", "partner_ended_by", "difference_ms", "error")
	_ = r.w.Write(row) // its error comes with Flush
}

func millisCell(m *cli.Millis) string {
	if m == nil {
		return ""
	}
	return m.String()
}
