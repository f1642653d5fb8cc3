package main

import (
	"bytes"
	"encoding/json"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// measurement is one run of one target: our record and, if there is one, the
// partner's.
type measurement struct {
	run     int // from 1
	target  target
	result  budgetcaller.Result
	partner *partnerView // nil: nobody was asked
}

// phases returns how long each phase of the call took, all its attempts
// together, in order and only those that were reached.
func (m measurement) phases() phaseTimes {
	var times phaseTimes
	for _, p := range budgetcaller.Phases() {
		sum, reached := time.Duration(0), false
		for _, attempt := range m.result.Attempts {
			if took, ok := attempt.Phases.Took(p); ok {
				sum, reached = sum+took, true
			}
		}
		if reached {
			times = append(times, phaseTime{p, cli.Millis(sum)})
		}
	}
	return times
}

// measureSchema names the form of a measurement's JSON line.
const measureSchema = "caller.measure/1"

// measureLine is a measurement as JSON shows it.
type measureLine struct {
	Schema     string              `json:"schema"`
	Run        int                 `json:"run"`
	Target     string              `json:"target"`
	Class      budgetcaller.Class  `json:"class"`
	Phase      budgetcaller.Phase  `json:"phase"`
	Limit      budgetcaller.Limit  `json:"limit"`
	Effect     budgetcaller.Effect `json:"effect"`
	Configured *cli.Millis         `json:"configured_ms"`
	Elapsed    cli.Millis          `json:"elapsed_ms"`
	Overshoot  *cli.Millis         `json:"overshoot_ms"`
	Attempts   int                 `json:"attempts"`
	Status     int                 `json:"status"`
	Bytes      int64               `json:"bytes"`
	Expected   int64               `json:"expected_bytes"`
	Phases     phaseTimes          `json:"phases_ms"`
	Partner    *partnerView        `json:"partner"`
	Error      string              `json:"error"`
	Location   string              `json:"location,omitempty"`
	RetryAfter string              `json:"retry_after,omitempty"`
}

func (m measurement) line() measureLine {
	last := m.result.Last()
	l := measureLine{
		Schema:     measureSchema,
		Run:        m.run,
		Target:     m.target.String(),
		Class:      last.Class,
		Phase:      last.Phase,
		Limit:      last.Limit,
		Effect:     m.result.Effect(),
		Elapsed:    cli.Millis(m.result.Elapsed),
		Attempts:   len(m.result.Attempts),
		Status:     last.Status,
		Bytes:      last.Bytes,
		Expected:   last.Expected,
		Phases:     m.phases(),
		Partner:    m.partner,
		Location:   last.Location,
		RetryAfter: last.RetryAfter,
	}
	if last.Configured > 0 {
		configured := cli.Millis(last.Configured)
		l.Configured = &configured
	}
	if cutByUs(last) {
		overshoot := cli.Millis(last.Overshoot)
		l.Overshoot = &overshoot
	}
	if last.Err != nil {
		l.Error = last.Err.Error()
	}
	return l
}

// cutByUs says whether a limit of ours ended the attempt; the floor only keeps
// one from being started.
func cutByUs(r budgetcaller.Record) bool {
	return r.Configured > 0 && r.Limit != budgetcaller.LimitFloor
}

// phaseTimes is an object in JSON that keeps the phases' order.
type phaseTimes []phaseTime

type phaseTime struct {
	phase budgetcaller.Phase
	took  cli.Millis
}

// MarshalJSON implements json.Marshaler.
func (t phaseTimes) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range t {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + p.phase.String() + `":` + p.took.String())
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *phaseTimes) UnmarshalJSON(text []byte) error {
	var byPhase map[budgetcaller.Phase]cli.Millis
	if err := json.Unmarshal(text, &byPhase); err != nil {
		return err
	}
	*t = nil
	for _, p := range budgetcaller.Phases() {
		if took, ok := byPhase[p]; ok {
			*t = append(*t, phaseTime{p, took})
		}
	}
	return nil
}
