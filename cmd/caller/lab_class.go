package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/referee"
)

// mark is one line of the CSV of a class.
type mark struct {
	name    string
	lab     int
	verdict string // pass, fail, inconclusive or error
	passed  int
	of      int
	seed    uint64
	where   string // the first failure
	seen    string
}

func markOf(name string, g referee.Grade, err error) mark {
	m := mark{name: name, lab: g.Lab, verdict: string(g.Verdict), of: len(g.Scenarios), seed: g.Seed}
	if err != nil {
		m.verdict, m.seen = "error", err.Error()
		return m
	}
	for _, r := range g.Scenarios {
		if r.Verdict == referee.Pass {
			m.passed++
		}
	}
	if scenario, bad := g.FirstBad(); bad != nil {
		m.where, m.seen = scenario+": "+bad.Check, bad.Seen
	}
	return m
}

func writeMarks(out io.Writer, marks []mark) error {
	w := csv.NewWriter(out)
	if err := w.Write([]string{"hand_in", "exercise", "verdict", "passed", "of", "first_failure", "seen", "seed"}); err != nil {
		return err
	}
	for _, m := range marks {
		err := w.Write([]string{m.name, strconv.Itoa(m.lab), m.verdict, strconv.Itoa(m.passed), strconv.Itoa(m.of), m.where, m.seen, strconv.FormatUint(m.seed, 10)})
		if err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// runLabClass grades every folder in o.class, one after the other, all with the
// same seed. A hand-in that cannot be run is a line like any other.
func runLabClass(ctx context.Context, o *labOptions, lab *referee.Lab, s cli.Streams) error {
	entries, err := os.ReadDir(o.class)
	if err != nil {
		return fmt.Errorf("lab grade: --class: %w", err)
	}
	var marks []mark
	for _, e := range entries {
		if !e.IsDir() || e.Name()[0] == '.' {
			continue
		}
		fmt.Fprintf(s.Err, "%s\n", e.Name())
		g, err := o.grade(ctx, lab, filepath.Join(o.class, e.Name()), referee.Options{Seed: o.seed}, cli.Streams{In: s.In, Out: s.Out, Err: discard{}})
		if ctx.Err() != nil {
			break
		}
		g.Lab, g.Seed = lab.Number, o.seed
		marks = append(marks, markOf(e.Name(), g, err))
	}
	if err := writeMarks(s.Out, marks); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted after %d hand-ins", len(marks)))
	}
	if len(marks) == 0 {
		return fmt.Errorf("lab grade: --class: %s holds no folders: one for each hand-in", o.class)
	}
	return nil
}
