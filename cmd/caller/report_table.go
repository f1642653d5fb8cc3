package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// maxRows is how many runs of the same URLs the table lists one by one; of more
// it prints the summaries only. One run of each URL has no summary and is
// always listed.
const maxRows = 20

// tableReport prints the table for people, once all is measured.
type tableReport struct {
	w    io.Writer
	opts *measureOptions
	rows []measurement // those that may be listed
	runs int
}

func newTableReport(o *measureOptions, w io.Writer) *tableReport {
	return &tableReport{w: w, opts: o}
}

func (r *tableReport) add(m measurement) error {
	r.runs++
	if r.listed() {
		r.rows = append(r.rows, m)
	}
	return nil
}

// listed says whether the runs so far are listed one by one.
func (r *tableReport) listed() bool { return r.opts.runs == 1 || r.runs <= maxRows }

func (r *tableReport) end(sums []summary) error {
	if r.runs == 0 {
		return nil
	}
	w := &errWriter{w: r.w}
	fmt.Fprintln(w, r.limits())
	fmt.Fprintln(w)
	if r.listed() {
		t := newRunTable(w, "run", r.opts.partner != "")
		for _, m := range r.rows {
			t.addCall(r.caption(m), m.line())
		}
		t.Render()
		r.details(w)
	}
	if r.opts.runs > 1 {
		for i, s := range sums {
			if i > 0 || r.listed() {
				fmt.Fprintln(w)
			}
			renderSummary(w, s)
		}
	}
	return w.err
}

// limits names the limits in force, broken between two of them only.
func (r *tableReport) limits() string {
	const glue = "\x00"
	limits := strings.NewReplacer(", ", ", ", " ", glue).Replace(r.opts.limits())
	return strings.ReplaceAll(cli.Paragraph("limits  ", limits), glue, " ")
}

// caption names a run: the listener or the address, and the number where there
// are several.
func (r *tableReport) caption(m measurement) string {
	where := m.target.url.Host
	if r.shared(m.target) {
		where += "\n" + shortPath(m.target.url.RequestURI())
	}
	switch {
	case r.opts.runs > 1:
		return fmt.Sprintf("run %d\n%s", m.run, where)
	case m.target.name != "":
		return m.target.name + "\n" + where
	}
	return where
}

// shared says whether another target has the same host and port, so that the
// address does not say which one is meant.
func (r *tableReport) shared(t target) bool {
	return slices.ContainsFunc(r.opts.targets, func(other target) bool {
		return other.url.Host == t.url.Host && other.String() != t.String()
	})
}

// shortPath returns path in three lines of whatWidth at most: of a longer one
// the start and the end.
func shortPath(path string) string {
	const gap = "..."
	if len(path) <= 3*whatWidth {
		return path
	}
	return path[:2*whatWidth-len(gap)] + gap + path[len(path)-whatWidth:]
}

// fold breaks the words of text that are longer than width: a URL may be.
func fold(line string, width int) string {
	words := strings.Split(line, " ")
	for i, word := range words {
		words[i] = text.WrapHard(word, width)
	}
	return strings.Join(words, " ")
}

// details says in full what one single run was, since there is room.
func (r *tableReport) details(w io.Writer) {
	if r.runs != 1 {
		return
	}
	m := r.rows[0]
	last := m.last()
	var phases []string
	for _, p := range phasesOf(m.result.Attempts...) {
		phases = append(phases, fmt.Sprintf("%s %s", p.phase, cli.Show(time.Duration(p.took))))
	}
	fmt.Fprintln(w)
	for _, line := range []struct{ head, text string }{
		{"target", m.target.String()},
		{"phases", strings.Join(phases, ", ")},
		{"answer", answer(last)},
		{"error", errorText(last.Err)},
		{"stopped", stopped(m)},
		{"effect", effectInWords(m.result.Effect())},
		{"partner", m.partnerAccount()},
	} {
		if line.text != "" {
			fmt.Fprintln(w, cli.Paragraph(fmt.Sprintf("%-8s", line.head), fold(line.text, cli.Width-8)))
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

// stopped says why no further attempt was made, empty if none was to be.
func stopped(m measurement) string {
	why := ""
	switch {
	case m.followedAll():
		why = usedUp(m.followed)
	case m.ending == nil:
		return ""
	default:
		why = m.ending.why
	}
	attempts := "attempts"
	if len(m.attempts()) == 1 {
		attempts = "attempt"
	}
	return fmt.Sprintf("after %d %s: %s", len(m.attempts()), attempts, why)
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
