package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/referee"
	"chaoslab/labs/referee/folder"
)

// watchEvery is how often the folder is looked at.
const watchEvery = 300 * time.Millisecond

func newLabWatch(s cli.Streams, o *labOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "watch N",
		Short: "grade again whenever a file in the folder changes, until Ctrl-C",
		RunE: func(c *cobra.Command, args []string) error {
			lab, err := o.gradeArgs(c, "watch", args)
			if err != nil {
				return err
			}
			return runLabWatch(c.Context(), o, lab, s)
		},
	}
	o.gradeFlags(c)
	return c
}

func runLabWatch(ctx context.Context, o *labOptions, lab *referee.Lab, s cli.Streams) error {
	f, err := o.open(lab)
	if err != nil {
		return err
	}
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	last := ""
	for {
		if now := fingerprint(f.Dir); now != last {
			last = now
			if err := gradeOnce(ctx, o, lab, f, s); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "watching %s; Ctrl-C ends it\n", f.Dir)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return cli.Exit(cli.ExitInterrupted, nil)
		}
	}
}

// gradeOnce grades and prints; only an interrupt and what the folder cannot do
// ends the watching.
func gradeOnce(ctx context.Context, o *labOptions, lab *referee.Lab, f *folder.Folder, s cli.Streams) error {
	g, err := o.grade(ctx, lab, f.Dir, referee.Options{Seed: o.seed, StopAtFirst: true}, s)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		fmt.Fprintf(s.Err, "caller: %v\n", err) // a program half written
		return nil
	}
	if err := f.Note(g, true); err != nil {
		return err
	}
	return printGrade(g, "table", s)
}

// fingerprint changes when a file of the student's does.
func fingerprint(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // gone meanwhile: that is a change
		}
		if d.IsDir() && path != dir && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if info, err := d.Info(); err == nil && !d.IsDir() && d.Name() != folder.ReportFile {
			fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return b.String()
}
