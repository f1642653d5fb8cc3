package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/sandbox"
)

// screenOptions is what the command line of screen says.
type screenOptions struct {
	plan   string   // the file
	bases  []string // PART=URL
	check  bool     // look at the numbers, call nothing
	seed   uint64
	format cli.Choice
}

// newScreen returns "caller screen".
func newScreen(s cli.Streams) *cobra.Command {
	o := &screenOptions{format: cli.Format("table", "json", "csv")}
	cmd := &cobra.Command{
		Use:   "screen PLAN.yaml",
		Short: "several calls under one budget, and where it went, in numbers",
		Long: `screen makes the calls of a plan under one budget and shows where it went: for
each attempt what was left before it, the limit it ran under, how long it waited
and took, how it ended, what was left after it, and why it was not made. Then
come a waterfall and the answer as JSON, in which "degraded" names what is
missing.

A plan (what is left out has its default):
  screen: order
  budget: {value: 2s, reason: what a customer waits for}
  reserve: 50ms          # kept for putting the answer together, or none
  parts:                 # one after the other
    - name: price
      url: http://127.0.0.1:8080/price
      need: required     # or optional: the answer does without it
      attempt: 500ms     # the limit of one try; limit: of all tries and waits
      expected: 120ms    # what it usually takes: the least it is started with
      tries: 2
      backoff: {base: 100ms, cap: 1s, jitter: full} # or equal, or none
    - together:          # side by side
        - {name: news, url: http://127.0.0.1:8081/, need: optional}
        - name: rates
          url: http://127.0.0.1:8082/
          fallback: {value: '{"EUR": 1.09}', age: 5m, max_age: 1h}
Also: floor, connect, read, availability, method, headers, body, and
fallback: {url: http://127.0.0.1:8083/, set_aside: 100ms}. Every number takes a
reason, as budget does above; screen says which have none.

A retry is paid from the budget, its wait too. What does not fit is not begun:
class below_floor. A plan whose numbers cannot hold, such as three tries of 2 s
under a budget of 2 s, is reported as one; --check reports it without a call.

--format json prints one object (schema caller.screen/1), durations in
milliseconds; csv prints the lines of the table.
Exit codes: 0 there is an answer, if parts of it are missing too; 1 a required
part failed, or --check found that the plan cannot hold; 2 wrong usage or a
mistake in the plan; 130 interrupted.`,
		Example: `  caller screen examples/screen/order.yaml --check
  caller screen examples/screen/order.yaml --base A=http://127.0.0.1:9090
  caller explain below_floor`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("screen takes one plan, got %d arguments; %s", len(args), seeHelp)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.plan = args[0]
			return runScreen(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.bases, "base", nil, "`PART=URL` of a part's partner, or PART.fallback")
	f.BoolVar(&o.check, "check", false, "judge the numbers only, call nothing")
	f.Uint64Var(&o.seed, "seed", 0, "`N` that the jitter comes from (default: random)")
	f.Var(&o.format, "format", "how it is printed")
	return cmd
}

// seeHelp says where there is a plan.
const seeHelp = "a plan to begin with is in: caller screen --help"

// runScreen runs the plan that o names, or checks it, and prints what came of it.
func runScreen(ctx context.Context, o *screenOptions, s cli.Streams) error {
	plan, err := readScreenPlan(o.plan)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; %s", err, seeHelp)
	}
	if err != nil {
		return cli.Usagef("%w", err)
	}
	targets, err := plan.targets(o.bases)
	if err != nil && (!o.check || len(o.bases) > 0) {
		return err
	}
	sc, caller, err := plan.build(targets, o.seed)
	if err != nil {
		return cli.Usagef("%s: %w", o.plan, err)
	}
	defer caller.Close()
	report := &screenReport{plan: plan, notes: plan.notes(sc), format: o.format.Value, to: s}
	if o.check {
		return cmp.Or(report.check(), report.verdict())
	}
	if err := targets.checkCaps(plan); err != nil {
		return err
	}
	targets.warn(s)
	progress := cli.NewProgress(s.Err, 1, "waiting for the screen")
	result, failed := sc.Run(ctx)
	progress.Close()
	if err := report.result(result); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil && failed != nil:
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted: the table shows how far it came"))
	case failed != nil:
		return cli.Exit(cli.ExitFailed, failed)
	}
	return nil
}

// warn says of targets that are not what they seem.
func (t screenTargets) warn(s cli.Streams) {
	if slices.ContainsFunc(t.names(), func(name string) bool { return inTestNet(t[name].url) }) && !sandbox.Inside() {
		fmt.Fprintf(s.Err, "caller: warning: %s need not be a black hole here; for a true one: caller sandbox -- caller screen PLAN.yaml\n", sandbox.BlackHole())
	}
}

// notes returns what there is to say about the plan's numbers.
func (p *screenPlan) notes(s *screen.Screen) []screen.Note {
	notes := slices.DeleteFunc(s.Check(), func(n screen.Note) bool { return n.Topic == screen.TopicReasons })
	var without []string
	for _, n := range p.numbers {
		if n.Reason == "" {
			without = append(without, strings.TrimSpace(n.Part+" "+n.Name))
		}
	}
	if len(without) > 0 {
		notes = append(notes, screen.Note{Topic: screen.TopicReasons, Text: "no reason is given for: " + strings.Join(without, ", ")})
	}
	return notes
}

// classWord is a class as the screen shows it; what is no failure of a call has
// no class.
func classWord(c budgetcaller.Class) string {
	if c == budgetcaller.ClassNone {
		return "error"
	}
	return c.String()
}
