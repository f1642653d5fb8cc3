package main

import (
	"fmt"
	"strconv"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// attemptLine is one attempt of a call as JSON shows it.
type attemptLine struct {
	Attempt int        `json:"attempt"`  // from 1
	Start   cli.Millis `json:"start_ms"` // after the start of the first
	howEnded
	Status     int          `json:"status"`
	Bytes      int64        `json:"bytes"`
	Expected   int64        `json:"expected_bytes"`
	Phases     phaseTimes   `json:"phases_ms"`
	Wait       *cli.Millis  `json:"wait_ms"` // after it; null: nobody waited
	Partner    *partnerView `json:"partner"`
	Error      string       `json:"error"`
	URL        string       `json:"url,omitempty"` // where a redirect led, if it did
	RetryAfter string       `json:"retry_after,omitempty"`
}

// detail returns every attempt of the call.
func (m measurement) detail() []attemptLine {
	var lines []attemptLine
	attempts := m.attempts()
	for i, a := range attempts {
		l := attemptLine{
			Attempt: i + 1, Start: cli.Millis(a.Start.Sub(attempts[0].Start)), howEnded: ended(a),
			Status: a.Status, Bytes: a.Bytes, Expected: a.Expected, Phases: phasesOf(a),
			Error: errorText(a.Err), RetryAfter: a.RetryAfter,
		}
		if waited, ok := a.Phases.Took(budgetcaller.PhaseBackoff); ok {
			wait := cli.Millis(waited)
			l.Wait = &wait
		}
		if i < len(m.views) {
			l.Partner = m.views[i]
		}
		if a.URL != nil && *a.URL != *m.target.url {
			l.URL = a.URL.Redacted()
		}
		lines = append(lines, l)
	}
	return lines
}

// telling says whether the attempts tell more than the call as a whole does.
func (l measureLine) telling() bool {
	return len(l.Detail) > 1 || len(l.Detail) == 1 && l.Detail[0].Class != l.Class
}

// word is the class, with the code of a status.
func (l attemptLine) word() string {
	if l.Class == budgetcaller.ClassStatus {
		return fmt.Sprintf("%v %d", l.Class, l.Status)
	}
	return l.Class.String()
}

// caption names the attempt in the table of runs, with the wait after it.
func (l attemptLine) caption() string {
	text := " attempt " + strconv.Itoa(l.Attempt)
	if l.Wait != nil {
		text += "\n wait " + cli.Show(time.Duration(*l.Wait))
	}
	return text
}

// partnerAccount tells in one sentence what the partner says of the call.
func (m measurement) partnerAccount() string {
	if len(m.views) < 2 || m.partner == nil {
		return m.partner.account()
	}
	seen, effects, pending := 0, 0, 0
	for _, v := range m.views {
		if v == nil || v.Saw != sawRequest {
			continue
		}
		seen++
		if v.Pending {
			pending++
		}
		if v.Effect != nil && *v.Effect {
			effects++
		}
	}
	times := strconv.Itoa(effects) + " times"
	if effects == 1 {
		times = "once"
	}
	text := fmt.Sprintf("saw %d whole requests in %d attempts and did the work %s", seen, len(m.views), times)
	if pending > 0 {
		text += fmt.Sprintf("; of %d it may still do it", pending)
	}
	return text
}
