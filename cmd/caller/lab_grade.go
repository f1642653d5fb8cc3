package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/referee"
	"chaoslab/labs/referee/folder"
)

const gradeLong = `grade runs every scenario of an exercise, in an order that the seed decides, and
says of each whether the program passed. Of the first failure it says what was
seen, what was expected and what to look at. --seed repeats a run.

What stands behind -- is run instead of the line in the file "run".

--class grades every folder in a folder, one hand-in each, and prints CSV.

Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 inconclusive (the machine was
too busy to tell; nobody is failed for that), 130 interrupted.`

func newLabGrade(s cli.Streams, o *labOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "grade N [-- COMMAND]",
		Short: "run every scenario of an exercise",
		Long:  gradeLong,
		Example: `  caller lab grade 1
  caller lab grade 1 --seed 42
  caller lab grade 1 -- node my.js
  caller lab grade 1 --class hand-ins > marks.csv`,
		RunE: func(c *cobra.Command, args []string) error {
			lab, err := o.gradeArgs(c, "grade", args)
			if err != nil {
				return err
			}
			if o.class != "" {
				return runLabClass(c.Context(), o, lab, s)
			}
			return runLabGrade(c.Context(), o, lab, s)
		},
	}
	o.gradeFlags(c)
	c.Flags().Var(&o.format, "format", "how results are printed")
	c.Flags().StringVar(&o.class, "class", "", "grade every `folder` in this one; prints CSV")
	return c
}

func (o *labOptions) gradeFlags(c *cobra.Command) {
	c.Flags().Uint64Var(&o.seed, "seed", 0, "repeat the run with this `seed` (default: a new one)")
}

func (o *labOptions) gradeArgs(c *cobra.Command, command string, args []string) (*referee.Lab, error) {
	if n := c.ArgsLenAtDash(); n >= 0 {
		args, o.argv = args[:n], args[n:]
	} else if len(args) > 1 {
		return nil, cli.Usagef("lab %s: %q: the command to run stands behind --", command, args[1])
	}
	lab, err := labOf(command, args)
	if err != nil {
		return nil, err
	}
	if !c.Flags().Changed("seed") {
		o.seed = uint64(rand.Uint32())
	}
	return lab, nil
}

// program makes the program of a folder ready.
func (o *labOptions) program(ctx context.Context, dir string) (*referee.Program, error) {
	return referee.Prepare(ctx, referee.ProgramConfig{Dir: dir, Argv: o.argv, Env: os.Environ(), Confine: true, Sandbox: true})
}

// dirOf returns where a program is run: the exercise's folder or, for a command
// of one's own without one, this folder.
func (o *labOptions) dirOf(lab *referee.Lab) (*folder.Folder, string, error) {
	f, err := o.open(lab)
	switch {
	case err == nil:
		return f, f.Dir, nil
	case len(o.argv) > 0 && o.dir != "":
		return nil, o.dir, nil
	case len(o.argv) > 0:
		return nil, ".", nil
	}
	return nil, "", err
}

func runLabGrade(ctx context.Context, o *labOptions, lab *referee.Lab, s cli.Streams) error {
	f, dir, err := o.dirOf(lab)
	if err != nil {
		return err
	}
	g, err := o.grade(ctx, lab, dir, referee.Options{Seed: o.seed}, s)
	if err != nil {
		return err
	}
	if f != nil {
		if err := f.Note(g, true); err != nil {
			return err
		}
	}
	if err := printGrade(g, o.format.Value, s); err != nil {
		return err
	}
	return verdictExit(g)
}

// grade prepares and runs a program. Until it returns, a second SIGINT does not end
// this process at once, as it does elsewhere: the program's children are to go
// first, which takes less than 3 s.
func (o *labOptions) grade(ctx context.Context, lab *referee.Lab, dir string, ro referee.Options, s cli.Streams) (referee.Grade, error) {
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	p, err := o.program(ctx, dir)
	if err != nil {
		return referee.Grade{}, interrupted(ctx, err)
	}
	defer p.Close() //nolint:errcheck // what is left is in the folder for passing things
	progress := cli.NewProgress(s.Err, len(lab.Scenarios), "grading")
	defer progress.Close()
	g, err := referee.Run(ctx, lab, p, ro)
	return g, interrupted(ctx, err)
}

// interrupted gives an error that an interrupt led to its exit code.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted; every process of the program has been ended"))
	}
	return err
}

// verdictExit is the exit code of a grading.
func verdictExit(g referee.Grade) error {
	switch g.Verdict {
	case referee.Fail:
		return cli.Exit(cli.ExitFailed, nil)
	case referee.Inconclusive:
		return cli.Exit(cli.ExitInconclusive, nil)
	}
	return nil
}

func printGrade(g referee.Grade, format string, s cli.Streams) error {
	switch format {
	case "json":
		return json.NewEncoder(s.Out).Encode(g)
	case "csv":
		return writeMark(s.Out, markOf("", g, nil))
	}
	t := cli.NewTable(s.Out, "scenario", "verdict", "what happens in it")
	if len(g.Predicted) > 0 {
		v := referee.Pass
		right := 0
		for _, f := range g.Predicted {
			if f.Verdict != referee.Pass {
				v = f.Verdict
				continue
			}
			right++
		}
		t.AppendRow([]any{referee.OwnPredict, v, fmt.Sprintf("your own figures: %d of %d", right, len(g.Predicted))})
	}
	for _, r := range g.Scenarios {
		tells := r.Tells
		if r.Runs > 1 {
			tells += fmt.Sprintf(" (run %d times: this machine was busy)", r.Runs)
		}
		t.AppendRow([]any{r.Name, r.Verdict, tells})
	}
	for _, l := range g.LeftOut {
		t.AppendRow([]any{l.Name, "left out", l.Why})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 3, WidthMax: tellsWidth(g), WidthMaxEnforcer: text.WrapSoft}})
	t.Render()
	fmt.Fprintln(s.Out)
	if scenario, bad := g.FirstBad(); bad != nil {
		printFeedback(bad.Feedback(scenario), s.Out)
		if scenario != referee.OwnPredict {
			tellRefused(g, s)
			fmt.Fprintf(s.Err, "\nLook at it: caller lab try %d --scenario %s --seed %d\n", g.Lab, scenario, g.Seed)
		}
		return nil
	}
	fmt.Fprintf(s.Out, "PASS  exercise %d, seed %d\n", g.Lab, g.Seed)
	return nil
}

// tellsWidth is what the first two columns of a grading's table leave to the third.
func tellsWidth(g referee.Grade) int {
	name := len("scenario")
	for _, r := range g.Scenarios {
		name = max(name, len(r.Name))
	}
	for _, l := range g.LeftOut {
		name = max(name, len(l.Name))
	}
	const gap = len("  ")
	return cli.Width - name - gap - len(referee.Inconclusive) - gap
}

// tellRefused says where a program may write if it was refused it somewhere.
func tellRefused(g referee.Grade, s cli.Streams) {
	for _, r := range g.Scenarios {
		if r.Seen != nil && r.Seen.Refused != "" {
			fmt.Fprintf(s.Err, "\nIn %s it was refused something (%s).\nA program can write in its folder, in $TMPDIR and in $LAB_DIR, and nowhere else.\n", r.Name, r.Seen.Refused)
			return
		}
	}
}

func newLabTry(s cli.Streams, o *labOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "try N [-- COMMAND]",
		Short: "run one scenario and show what happens as it happens",
		Example: `  caller lab try 1
  caller lab try 1 --scenario silent --seed 42`,
		RunE: func(c *cobra.Command, args []string) error {
			lab, err := o.gradeArgs(c, "try", args)
			if err != nil {
				return err
			}
			return runLabTry(c.Context(), o, lab, s)
		},
	}
	o.gradeFlags(c)
	c.Flags().StringVar(&o.only, "scenario", "", "`which`; if not given, the first that the last run did not pass")
	return c
}

func runLabTry(ctx context.Context, o *labOptions, lab *referee.Lab, s cli.Streams) error {
	f, dir, err := o.dirOf(lab)
	if err != nil {
		return err
	}
	name := o.only
	if name == "" {
		name = nextScenario(f, lab)
	}
	scenario, err := lab.Scenario(name)
	if err != nil {
		return cli.Usagef("lab try: %v", err)
	}
	fmt.Fprintf(s.Err, "%s: %s (seed %d)\n", scenario.Name, scenario.Tells, o.seed)
	ro := referee.Options{Seed: o.seed, Only: []string{name}, Event: func(e referee.Event) {
		fmt.Fprintf(s.Out, "%9.1f ms  %-8s %s\n", e.At, e.Lane, e.Text)
	}}
	g, err := o.grade(ctx, lab, dir, ro, cli.Streams{In: s.In, Out: s.Out, Err: discard{}})
	if err != nil {
		return err
	}
	if f != nil {
		if err := f.Note(g, false); err != nil {
			return err
		}
	}
	fmt.Fprintln(s.Out)
	if scenario, bad := g.FirstBad(); bad != nil {
		printFeedback(bad.Feedback(scenario), s.Out)
		tellRefused(g, s)
		return verdictExit(g)
	}
	fmt.Fprintf(s.Out, "PASS  %s\n", name)
	return nil
}

// nextScenario is the first that the last grading did not pass, else the first.
func nextScenario(f *folder.Folder, lab *referee.Lab) string {
	if f != nil {
		if g, err := f.Last(); err == nil {
			for _, r := range g.Scenarios {
				if r.Verdict != referee.Pass {
					return r.Name
				}
			}
		}
	}
	return strings.TrimSpace(lab.Scenarios[0].Name)
}

// discard is a writer that is no terminal.
type discard struct{}

// Write implements io.Writer.
func (discard) Write(b []byte) (int, error) { return len(b), nil }
