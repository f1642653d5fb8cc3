package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
)

func newQueueShow(s cli.Streams, store *queueStore) *cobra.Command {
	format := cli.Format("table", "json")
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "show one job whole, and who redrove it",
		Example: `  caller queue show order-17`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := retryqueue.CheckID(args[0]); err != nil {
				return cli.Usagef("%w", err)
			}
			return runQueueShow(cmd.Context(), store, args[0], format.Value, s)
		},
	}
	cmd.Flags().Var(&format, "format", "how it is printed")
	return cmd
}

func runQueueShow(ctx context.Context, o *queueStore, id, format string, s cli.Streams) error {
	return o.look(ctx, func(store retryqueue.Store) error {
		j, err := store.Get(ctx, id)
		if err != nil {
			return err
		}
		acts, err := store.Acts(ctx, id)
		if err != nil {
			return err
		}
		if format == "json" {
			return showJSON(j, acts, s)
		}
		return showTable(j, acts, s)
	})
}

// jobSchema names the form of a job's JSON line.
const jobSchema = "caller.queue.job/1"

// jobLine is a job as JSON shows it. Points in time are Unix milliseconds.
type jobLine struct {
	Schema      string            `json:"schema"`
	ID          string            `json:"id"`
	State       retryqueue.State  `json:"state"`
	Reason      retryqueue.Reason `json:"reason"`
	Attempts    int               `json:"attempts"`
	MaxAttempts int               `json:"max_attempts"`
	AvailableAt retryqueue.Millis `json:"available_at_ms,omitempty"`
	LeaseUntil  retryqueue.Millis `json:"lease_until_ms,omitempty"`
	Deadline    retryqueue.Millis `json:"deadline_ms"`
	EnqueuedAt  retryqueue.Millis `json:"enqueued_at_ms"`
	FinishedAt  retryqueue.Millis `json:"finished_at_ms,omitempty"`
	LeasesLost  int               `json:"leases_lost"`
	LastError   string            `json:"last_error,omitempty"`
	Purged      bool              `json:"purged"`
	Payload     json.RawMessage   `json:"payload,omitempty"`
	Acts        []actLine         `json:"redriven,omitempty"`
}

type actLine struct {
	At           retryqueue.Millis `json:"at_ms"`
	By           string            `json:"by"`
	MoreAttempts int               `json:"more_attempts"`
	Deadline     retryqueue.Millis `json:"deadline_ms"`
	OldDeadline  retryqueue.Millis `json:"old_deadline_ms"`
	OldReason    retryqueue.Reason `json:"old_reason"`
}

func lineOf(j retryqueue.Job) jobLine {
	return jobLine{
		Schema: jobSchema, ID: j.ID, State: j.State, Reason: j.Reason, Attempts: j.Attempts, MaxAttempts: j.MaxAttempts,
		AvailableAt: j.AvailableAt, LeaseUntil: j.LeaseUntil, Deadline: j.Deadline, EnqueuedAt: j.EnqueuedAt,
		FinishedAt: j.FinishedAt, LeasesLost: j.LeasesLost, LastError: j.LastError, Purged: j.Purged,
	}
}

func showJSON(j retryqueue.Job, acts []retryqueue.Act, s cli.Streams) error {
	line := lineOf(j)
	var err error
	if line.Payload, err = payloadJSON(j); err != nil {
		return err
	}
	for _, a := range acts {
		line.Acts = append(line.Acts, actLine{a.At, a.By, a.MoreAttempts, a.Deadline, a.OldDeadline, a.OldReason})
	}
	enc := lineEncoder(s.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(line)
}

// payloadJSON is the payload as it is read best: a request without the escapes
// that are for HTML, other JSON as it is, and anything else in base64.
func payloadJSON(j retryqueue.Job) (json.RawMessage, error) {
	if r, err := httpsend.Decode(j.Payload); err == nil {
		var b bytes.Buffer
		err := lineEncoder(&b).Encode(r)
		return bytes.TrimSpace(b.Bytes()), err
	}
	if j.Purged || json.Valid(j.Payload) {
		return j.Payload, nil
	}
	return json.Marshal(j.Payload)
}

// showColumns is what the table leaves for values.
const showColumns = cli.Width - len("leases lost  ")

func showTable(j retryqueue.Job, acts []retryqueue.Act, s cli.Streams) error {
	w := &errWriter{w: s.Out}
	t := cli.NewTable(w, "what", "value")
	row := func(what, value string) {
		t.AppendRow(table.Row{what, cli.Wrap(fold(printable(value), showColumns), showColumns)})
	}
	at := func(what string, m retryqueue.Millis) {
		if m > 0 {
			row(what, showTime(m))
		}
	}
	row("id", j.ID)
	row("state", stateInWords(j))
	row("attempts", fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts))
	at("added", j.EnqueuedAt)
	at("due", j.AvailableAt)
	at("lease until", j.LeaseUntil)
	at("deadline", j.Deadline)
	at("ended", j.FinishedAt)
	row("leases lost", fmt.Sprint(j.LeasesLost))
	if j.LastError != "" {
		row("last error", j.LastError)
	}
	for _, x := range payloadRows(j) {
		row(x[0], x[1])
	}
	for _, a := range acts {
		row("redriven", fmt.Sprintf("%s by %s: %d more attempts, deadline %s; it was dead (%v), deadline %s",
			showTime(a.At), a.By, a.MoreAttempts, showTime(a.Deadline), a.OldReason, showTime(a.OldDeadline)))
	}
	t.Render()
	return w.err
}

// payloadRows are the lines of the table about what is sent.
func payloadRows(j retryqueue.Job) [][2]string {
	if j.Purged {
		return [][2]string{{"payload", "purged"}}
	}
	r, err := httpsend.Decode(j.Payload)
	if err != nil {
		return [][2]string{{"payload", fmt.Sprintf("%d bytes that are no request: see --format json", len(j.Payload))}}
	}
	rows := [][2]string{{"request", strings.TrimSpace(r.Method + " " + r.URL)}}
	if r.Method == "" {
		rows[0][1] = "POST " + r.URL
	}
	var header []string
	for name, value := range r.Header {
		header = append(header, name+": "+value)
	}
	slices.Sort(header)
	for _, h := range header {
		rows = append(rows, [2]string{"header", h})
	}
	const most = 300
	switch {
	case r.Base64 != nil:
		rows = append(rows, [2]string{"body", fmt.Sprintf("%d bytes: see --format json", len(r.Base64))})
	case r.Body != "":
		text := clip(r.Body, most)
		if text != r.Body {
			text += fmt.Sprintf(" (%d bytes)", len(r.Body))
		}
		rows = append(rows, [2]string{"body", text})
	}
	return rows
}

func stateInWords(j retryqueue.Job) string {
	if j.State == retryqueue.Dead {
		return j.State.String() + ": " + j.Reason.String()
	}
	return j.State.String()
}

func showTime(m retryqueue.Millis) string { return m.Time().Format("2006-01-02T15:04:05.000Z07:00") }

// clip shortens text to n bytes for a table.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-3], "") + "..."
}

// printable is text as one line that a terminal shows and does not obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, text)
}
