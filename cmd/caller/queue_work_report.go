package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
)

// workSchema names the form of the JSON line of one step.
const workSchema = "caller.queue.work/1"

type workLine struct {
	Schema      string             `json:"schema"`
	Outcome     retryqueue.Outcome `json:"outcome"`
	ID          string             `json:"id,omitempty"`
	Attempt     int                `json:"attempt,omitempty"`
	MaxAttempts int                `json:"max_attempts,omitempty"`
	Reason      retryqueue.Reason  `json:"reason"`
	AvailableAt retryqueue.Millis  `json:"available_at_ms,omitempty"`
	Took        cli.Millis         `json:"took_ms"`
	Error       string             `json:"error,omitempty"`
}

// workReport prints what workers did. Its tell is called by all of them.
type workReport struct {
	s     cli.Streams
	json  bool
	again time.Duration // before the same trouble with the store is told again

	mu   sync.Mutex
	err  error                // the first of writing
	told map[string]time.Time // the troubles with the store that go on, and when each was told
}

// storeAgain is how long a trouble with the store that lasts is not told again:
// every worker meets it, twice a second.
const storeAgain = time.Minute

// aboutStore says whether a step failed before it had a job.
func aboutStore(r retryqueue.Report) bool {
	return r.Outcome == retryqueue.Failed && r.Job.ID == ""
}

func (w *workReport) tell(r retryqueue.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range r.Ended {
		w.line(retryqueue.Report{Outcome: retryqueue.GivenUp, Job: j, Err: errors.New("found without time or attempts")})
	}
	if r.Outcome != retryqueue.Idle && !w.known(r) {
		w.line(r)
	}
}

// known says whether r is a trouble with the store that was told just now.
func (w *workReport) known(r retryqueue.Report) bool {
	if !aboutStore(r) {
		w.told = nil // it works again
		return false
	}
	text, now := r.Err.Error(), time.Now()
	if at, ok := w.told[text]; ok && now.Sub(at) < w.again {
		return true
	}
	if w.told == nil || len(w.told) == maxNotes {
		w.told = map[string]time.Time{}
	}
	w.told[text] = now
	return false
}

func (w *workReport) line(r retryqueue.Report) {
	l := workLine{Schema: workSchema, Outcome: r.Outcome, ID: r.Job.ID, Attempt: r.Job.Attempts, MaxAttempts: r.Job.MaxAttempts, Reason: r.Job.Reason, AvailableAt: r.Job.AvailableAt, Took: cli.Millis(r.Took)}
	if r.Err != nil {
		l.Error = errorText(r.Err)
	}
	if w.json {
		w.keep(lineEncoder(w.s.Out).Encode(l))
		return
	}
	text := strings.TrimSpace(fmt.Sprintf("%-12v %s", r.Outcome, l.ID))
	if l.Attempt > 0 || l.MaxAttempts > 0 {
		text += fmt.Sprintf("  attempt %d of %d", l.Attempt, l.MaxAttempts)
	}
	if l.Reason != retryqueue.ReasonNone {
		text += "  " + l.Reason.String()
	}
	if l.AvailableAt > 0 {
		text += "  again in " + cli.Show(max(0, l.AvailableAt.Sub(nowMillis())))
	}
	if r.Took > 0 {
		text += "  " + cli.Show(r.Took)
	}
	if l.Error != "" {
		text += "  (" + strings.Join(strings.Fields(l.Error), " ") + ")"
	}
	to := w.s.Out
	if aboutStore(r) {
		to = w.s.Err
	}
	_, err := fmt.Fprintln(to, text)
	w.keep(err)
}

func (w *workReport) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}
