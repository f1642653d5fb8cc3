package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
)

// demoOptions is what the flags of demo say, and what a test puts there.
type demoOptions struct {
	format cli.Choice
	// blackHole measures the genuine black hole in a sandbox.
	blackHole func(ctx context.Context, limit time.Duration) (measureLine, error)
}

func newDemo(s cli.Streams) *cobra.Command {
	o := &demoOptions{format: cli.Format("table", "json"), blackHole: measureBlackHole}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "the ways to fail, side by side, against a partner of its own",
		Long: `demo starts a partner inside this process and measures it: a refused connection,
a connect timeout, a read timeout, a slow answer within its limits, and a call
that its budget ends. It takes two to three seconds and needs nothing else; all
of it stays on loopback, or in a sandbox.`,
		Example: `  caller demo
  caller demo --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), o, s) },
	}
	cmd.Flags().Var(&o.format, "format", "how results are printed")
	return cmd
}

// demoCase is one call of the demo.
type demoCase struct {
	name   string
	set    string // the limit that matters, in words, or where
	fault  string // as faults.Parse reads it; empty: the black hole in a sandbox
	limits budgetcaller.Limits
	budget time.Duration
	want   budgetcaller.Class
}

// The limits of the demo: short, so that nobody waits, and far enough apart
// that none can be taken for another.
const (
	demoConnect = 300 * time.Millisecond
	demoRead    = 500 * time.Millisecond
	demoBudget  = 400 * time.Millisecond
	demoPlenty  = 2 * time.Second
)

func demoCases() []demoCase {
	limits := budgetcaller.Limits{Connect: demoConnect, Read: demoRead}
	patient := budgetcaller.Limits{Connect: demoConnect, Read: demoPlenty}
	connect, read := "connect "+cli.ShowLimit(demoConnect), "read "+cli.ShowLimit(demoRead)
	return []demoCase{
		{"refused", connect, "refused", limits, demoPlenty, budgetcaller.ClassRefused},
		{"connect-timeout", connect, "connect-timeout", limits, demoPlenty, budgetcaller.ClassConnectTimeout},
		{blackHole().String(), "in a sandbox", "", limits, demoPlenty, budgetcaller.ClassConnectTimeout},
		{"read-timeout", read, "read-timeout", limits, demoPlenty, budgetcaller.ClassReadTimeout},
		{"slow, 300 ms", read, "slow:delay=300ms", limits, demoPlenty, budgetcaller.ClassOK},
		{"slow, 3 s", "budget " + cli.ShowLimit(demoBudget), "slow:delay=3s", patient, demoBudget, budgetcaller.ClassBudgetExhausted},
	}
}

// demoLine is a line of the demo in JSON: a measurement and which case it is.
type demoLine struct {
	measureLine
	Case string `json:"case"`
}

func runDemo(ctx context.Context, o *demoOptions, s cli.Streams) error {
	var lines []demoLine
	var leftOut []string
	var failed error
	progress := cli.NewProgress(s.Err, len(demoCases()), "measuring")
	defer progress.Close()
	for _, c := range demoCases() {
		line, err := c.measure(ctx, o)
		if ctx.Err() != nil && (err != nil || line.Schema == "") {
			break
		}
		progress.Add(1)
		if err != nil {
			leftOut = append(leftOut, fmt.Sprintf("demo: %s is left out: %v\n", c.name, err))
			continue
		}
		lines = append(lines, demoLine{line, c.name})
		if line.Class != c.want && failed == nil {
			failed = fmt.Errorf("demo: %s was to end in %s and ended in %s: is this machine very busy? caller explain %s says more", c.name, c.want, line.Class, line.Class)
		}
		if ctx.Err() != nil {
			break
		}
	}
	progress.Close()
	fmt.Fprint(s.Err, strings.Join(leftOut, ""))
	err := printDemo(s.Out, o.format.Value, lines)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted after %d of %d calls", len(lines), len(demoCases())))
	case len(lines) == 0:
		return errors.New("demo: nothing could be measured here")
	}
	return failed
}

func printDemo(out io.Writer, format string, lines []demoLine) error {
	w := &errWriter{w: out}
	if format != "json" {
		renderDemo(w, lines)
		return w.err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return w.err
}

// measure makes the call of one case, against a partner of its own.
func (c demoCase) measure(ctx context.Context, o *demoOptions) (measureLine, error) {
	if c.fault == "" {
		return o.blackHole(ctx, c.limits.Connect)
	}
	spec, err := faults.Parse(c.fault)
	if err != nil {
		return measureLine{}, err
	}
	partner, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{spec}}}})
	if err != nil {
		return measureLine{}, err
	}
	defer partner.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it ends with the process at the latest
	caller, err := budgetcaller.New(budgetcaller.Config{Limits: c.limits})
	if err != nil {
		return measureLine{}, err
	}
	defer caller.Close()
	targets, err := targetsOf(partner.Listeners())
	if err != nil {
		return measureLine{}, err
	}
	call, cancel, err := budgetcaller.Begin(ctx, c.budget)
	if err != nil {
		return measureLine{}, err
	}
	defer cancel()
	req, err := request{method: http.MethodGet, header: http.Header{}}.to(call, targets[0])
	if err != nil {
		return measureLine{}, err
	}
	m := measurement{run: 1, target: targets[0]}
	if m.result, err = caller.Run(call, req, nil); err != nil {
		return measureLine{}, err
	}
	m.partner, err = view(context.WithoutCancel(ctx), ownLedger{partner}, m.result.Last())
	return m.line(), err
}

// renderDemo prints the table and what to notice in it.
func renderDemo(w io.Writer, lines []demoLine) {
	if len(lines) == 0 {
		return
	}
	sets := map[string]demoCase{}
	for _, c := range demoCases() {
		sets[c.name] = c
	}
	t := newRunTable(w, "partner\nwe set", true)
	for _, l := range lines {
		t.add(l.Case+"\n"+sets[l.Case].set, l.howEnded, l.Partner)
	}
	t.Render()
	fmt.Fprintln(w)
	for i, text := range notices(lines) {
		fmt.Fprintf(w, "%d. %s\n", i+1, text)
	}
}

// notices says what to notice in the table; nothing about a case that did not
// end as it should.
func notices(lines []demoLine) []string {
	asMeant := map[string]bool{}
	for _, c := range demoCases() {
		for _, l := range lines {
			if l.Case == c.name && l.Class == c.want {
				asMeant[c.name] = true
			}
		}
	}
	var all []string
	for _, n := range []struct{ needs, text string }{
		{"refused+connect-timeout", "Refused at once, or cut at the connect limit: it never began. Safe to repeat."},
		{"read-timeout", "Cut at the read limit, the partner had the request and may have done it."},
		{"slow, 300 ms+slow, 3 s", "The read limit bounds silence, the budget all: 300 ms passed, 3 s did not."},
	} {
		holds := true
		for name := range strings.SplitSeq(n.needs, "+") {
			holds = holds && asMeant[name]
		}
		if holds {
			all = append(all, n.text)
		}
	}
	return all
}
