package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	ending  *ending      // nil: the call was its one attempt
	key     string       // Idempotency-Key that was sent, empty: none of ours
	partner *partnerView // nil: nobody was asked

	followed int // redirects that --follow allows

	views []*partnerView // of each attempt, where there is an ending
}

// last is the account of how the call ended.
func (m measurement) last() budgetcaller.Record {
	if m.ending != nil {
		return m.ending.record
	}
	return m.result.Last()
}

// attempts returns those that were begun: not one that the floor or a cancel
// forbade, which the partner cannot have seen.
func (m measurement) attempts() []budgetcaller.Record {
	var begun []budgetcaller.Record
	for _, a := range m.result.Attempts {
		if a.Phase != budgetcaller.PhaseNone {
			begun = append(begun, a)
		}
	}
	return begun
}

// phasesOf returns how long each phase of the attempts took, all together, in
// order and only those that were reached.
func phasesOf(attempts ...budgetcaller.Record) phaseTimes {
	var times phaseTimes
	for _, p := range budgetcaller.Phases() {
		sum, reached := time.Duration(0), false
		for _, attempt := range attempts {
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
	Schema string `json:"schema"`
	Run    int    `json:"run"`
	Target string `json:"target"`
	howEnded
	Attempts   int          `json:"attempts"`
	Status     int          `json:"status"`
	Bytes      int64        `json:"bytes"`
	Expected   int64        `json:"expected_bytes"`
	Phases     phaseTimes   `json:"phases_ms"`
	Partner    *partnerView `json:"partner"`
	Error      string       `json:"error"`
	Location   string       `json:"location,omitempty"`
	RetryAfter string       `json:"retry_after,omitempty"`

	// Of calls that may have several attempts or redirects only.
	Key     string        `json:"idempotency_key,omitempty"`
	Stopped string        `json:"stopped,omitempty"`
	Detail  []attemptLine `json:"attempts_detail,omitempty"`
}

// howEnded says how a call or an attempt ended.
type howEnded struct {
	Class      budgetcaller.Class  `json:"class"`
	Phase      budgetcaller.Phase  `json:"phase"`
	Limit      budgetcaller.Limit  `json:"limit"`
	Effect     budgetcaller.Effect `json:"effect"`
	Configured *cli.Millis         `json:"configured_ms"`
	Elapsed    cli.Millis          `json:"elapsed_ms"`
	Overshoot  *cli.Millis         `json:"overshoot_ms"`
}

func ended(r budgetcaller.Record) howEnded {
	h := howEnded{Class: r.Class, Phase: r.Phase, Limit: r.Limit, Effect: r.Effect, Elapsed: cli.Millis(r.Elapsed)}
	if r.Configured > 0 {
		configured := cli.Millis(r.Configured)
		h.Configured = &configured
	}
	if cutByUs(r) {
		overshoot := cli.Millis(r.Overshoot)
		h.Overshoot = &overshoot
	}
	return h
}

func (m measurement) line() measureLine {
	last := m.last()
	l := measureLine{
		Schema:     measureSchema,
		Run:        m.run,
		Target:     m.target.String(),
		howEnded:   ended(last),
		Attempts:   len(m.attempts()),
		Status:     last.Status,
		Bytes:      last.Bytes,
		Expected:   last.Expected,
		Phases:     phasesOf(m.result.Attempts...),
		Partner:    m.partner,
		Location:   last.Location,
		RetryAfter: last.RetryAfter,
		Key:        m.key,
	}
	l.Effect, l.Elapsed = m.result.Effect(), cli.Millis(m.result.Elapsed)
	if m.ending != nil {
		l.Stopped, l.Detail = m.ending.why, m.detail()
	}
	if m.followedAll() {
		l.Stopped = usedUp(m.followed)
	}
	if last.Err != nil {
		l.Error = last.Err.Error()
	}
	return l
}

// followedAll says whether the answer is one more redirect than --follow allows.
func (m measurement) followedAll() bool {
	last := m.last()
	return m.followed > 0 && len(m.attempts()) > m.followed &&
		last.Err == nil && last.Status/100 == 3 && last.Location != ""
}

func usedUp(follow int) string {
	return fmt.Sprintf("--follow=%d is used up: the answer is one more redirect", follow)
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
