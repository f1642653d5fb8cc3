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

// marksWriter writes marks as CSV, each as soon as it is there: what was graded
// before a crash is not lost.
type marksWriter struct{ csv *csv.Writer }

func newMarksWriter(out io.Writer) (marksWriter, error) {
	w := marksWriter{csv.NewWriter(out)}
	return w, w.row("hand_in", "exercise", "verdict", "passed", "of", "first_failure", "seen", "seed")
}

func (w marksWriter) write(m mark) error {
	return w.row(m.name, strconv.Itoa(m.lab), m.verdict, strconv.Itoa(m.passed), strconv.Itoa(m.of), m.where, m.seen, strconv.FormatUint(m.seed, 10))
}

// writeMark writes one alone.
func writeMark(out io.Writer, m mark) error {
	w, err := newMarksWriter(out)
	if err != nil {
		return err
	}
	return w.write(m)
}

func (w marksWriter) row(fields ...string) error {
	if err := w.csv.Write(fields); err != nil {
		return err
	}
	w.csv.Flush()
	return w.csv.Error()
}

// runLabClass grades every folder in o.class, one after the other, all with the
// same seed. A hand-in that cannot be run is a line like any other.
func runLabClass(ctx context.Context, o *labOptions, lab *referee.Lab, s cli.Streams) error {
	entries, err := os.ReadDir(o.class)
	if err != nil {
		return fmt.Errorf("lab grade: --class: %w", err)
	}
	marks, err := newMarksWriter(s.Out)
	if err != nil {
		return err
	}
	graded := 0
	for _, e := range entries {
		if !e.IsDir() || e.Name()[0] == '.' {
			continue
		}
		fmt.Fprintf(s.Err, "%s\n", e.Name())
		g, err := o.grade(ctx, lab, filepath.Join(o.class, e.Name()), referee.Options{Seed: o.seed}, cli.Streams{In: s.In, Out: s.Out, Err: discard{}})
		if ctx.Err() != nil {
			return cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted after %d hand-ins", graded))
		}
		g.Lab, g.Seed = lab.Number, o.seed
		if err := marks.write(markOf(e.Name(), g, err)); err != nil {
			return err
		}
		graded++
	}
	if graded == 0 {
		return fmt.Errorf("lab grade: --class: %s holds no folders: one for each hand-in", o.class)
	}
	return nil
}
