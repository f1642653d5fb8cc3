package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs"
	"chaoslab/labs/referee"
	"chaoslab/labs/referee/folder"
	"chaoslab/labs/referee/handin"
)

const labLong = `lab holds the exercises. You write a program in a language of your choice; it is
judged by what the partner saw, not by what it says.

  caller lab list     the exercises, and how far you are
  caller lab start 1  lays a folder with the task and a starter
  caller lab try 1    runs one scenario and shows what happens
  caller lab grade 1  runs all of them and says what is wrong, if anything
  caller lab hint 1   a hint; there are three, from vague to plain
  caller lab report 1 the last run as a page to look at

The exercise's folder is the one you stand in, or 01-… under it, or --dir.`

// labOptions is what the flags of the subcommands of lab say.
type labOptions struct {
	dir  string
	lang string

	seed   uint64
	only   string
	format cli.Choice
	class  string // a folder of hand-ins
	argv   []string

	solution bool
	output   string
}

func newLab(s cli.Streams) *cobra.Command {
	o := &labOptions{format: cli.Format("table", "json", "csv")}
	c := &cobra.Command{
		Use:   "lab",
		Short: "exercises for any language, judged by what the partner saw",
		Long:  labLong,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&o.dir, "dir", "", "the exercise's `folder`")
	c.AddCommand(
		newLabList(s, o), newLabStart(s, o), newLabTry(s, o), newLabGrade(s, o),
		newLabHint(s, o), newLabWatch(s, o), newLabReset(s, o), newLabReport(s, o),
	)
	return c
}

// labOf reads the exercise that args begin with.
func labOf(command string, args []string) (*referee.Lab, error) {
	if len(args) == 0 {
		return nil, cli.Usagef("lab %s: which exercise? caller lab list shows them; for instance: caller lab %s 1", command, command)
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, cli.Usagef("lab %s: %q is no number of an exercise; caller lab list shows them", command, args[0])
	}
	lab, err := labs.Find(n)
	if err != nil {
		return nil, cli.Usagef("lab %s: %v", command, err)
	}
	return lab, nil
}

// open finds the exercise's folder: the one given, the one under this one, or
// this one.
func (o *labOptions) open(lab *referee.Lab) (*folder.Folder, error) {
	dirs := []string{lab.Folder(), "."}
	if o.dir != "" {
		dirs = []string{o.dir}
	}
	for _, dir := range dirs {
		f, err := folder.Open(dir)
		switch {
		case errors.Is(err, folder.ErrNone):
			continue
		case err != nil:
			return nil, err
		case f.Progress.Lab != lab.Number:
			if o.dir == "" {
				continue
			}
			return nil, fmt.Errorf("%s holds exercise %d, not %d", dir, f.Progress.Lab, lab.Number)
		}
		return f, nil
	}
	return nil, fmt.Errorf("no folder of exercise %d here: caller lab start %d lays one, --dir names another", lab.Number, lab.Number)
}

func newLabStart(s cli.Streams, o *labOptions) *cobra.Command {
	c := &cobra.Command{
		Use:     "start N",
		Short:   "lay a folder with the task and a starter",
		Example: "  caller lab start 1\n  caller lab start 1 --lang node",
		RunE: func(_ *cobra.Command, args []string) error {
			lab, err := labOf("start", args)
			if err != nil {
				return err
			}
			return runLabStart(o, lab, s)
		},
	}
	c.Flags().StringVar(&o.lang, "lang", "python", "`language` of the starter: go or python; some have node or sh too, see list")
	return c
}

func runLabStart(o *labOptions, lab *referee.Lab, s cli.Streams) error {
	dir := o.dir
	if dir == "" {
		dir = lab.Folder()
	}
	if _, err := folder.Lay(lab, o.lang, dir); err != nil {
		return err
	}
	l, _ := folder.LanguageOf(o.lang) // or it could not have been laid
	if _, err := exec.LookPath(l.Needs); err != nil {
		fmt.Fprintf(s.Err, "%s is not installed here, and the starter needs it\n", l.Needs)
	}
	fmt.Fprintf(s.Out, "%s\n", dir)
	fmt.Fprintf(s.Err, `
%d. %s (%d minutes)

  1. read   %s
  2. fill   %s: what do you expect, before you measure?
  3. see    caller lab try %d      the starter runs, and fails
  4. write  %s, which the line in the file "run" starts
  5. check  caller lab grade %d
`, lab.Number, lab.Title, lab.Minutes, filepath.Join(dir, folder.TaskFile), filepath.Join(dir, referee.PredictFile), lab.Number, filepath.Join(dir, l.Main), lab.Number)
	return nil
}

func newLabHint(s cli.Streams, o *labOptions) *cobra.Command {
	c := &cobra.Command{
		Use:        "hint N",
		SuggestFor: []string{"solution"},
		Short:      "the next hint: there are three, from vague to plain",
		RunE: func(_ *cobra.Command, args []string) error {
			lab, err := labOf("hint", args)
			if err != nil {
				return err
			}
			return runLabHint(o, lab, s)
		},
	}
	c.Flags().BoolVar(&o.solution, "solution", false, "open the sealed solution: once you have passed or taken all hints")
	return c
}

func runLabHint(o *labOptions, lab *referee.Lab, s cli.Streams) error {
	f, err := o.open(lab)
	if err != nil {
		return err
	}
	if o.solution {
		return openSolution(f, lab, s)
	}
	if f.Progress.Hints < len(lab.Hints) {
		f.Progress.Hints++
	}
	for i := range f.Progress.Hints {
		fmt.Fprintln(s.Out, cli.Paragraph(fmt.Sprintf("%d. ", i+1), lab.Hints[i]))
	}
	if f.Progress.Hints == len(lab.Hints) {
		fmt.Fprintf(s.Err, "That was the last one. caller lab hint %d --solution opens the solution.\n", lab.Number)
	}
	return f.Save()
}

// openSolution writes the solution into a folder of its own.
func openSolution(f *folder.Folder, lab *referee.Lab, s cli.Streams) error {
	if f.Progress.Passed == nil && f.Progress.Hints < len(lab.Hints) {
		return fmt.Errorf("the solution is sealed until you have passed or taken all %d hints: caller lab hint %d", len(lab.Hints), lab.Number)
	}
	files, err := folder.Solution(lab, f.Progress.Lang)
	if err != nil {
		return err
	}
	const dir = "solution"
	for name, text := range files {
		if err := handin.Write(f.Dir, dir+"/"+name, text); err != nil {
			return err
		}
	}
	f.Progress.Solution = true
	fmt.Fprintln(s.Out, filepath.Join(f.Dir, dir))
	return f.Save()
}

func newLabReset(s cli.Streams, o *labOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "reset N",
		Short: "lay the folder anew; what was in it is kept beside it",
		RunE: func(_ *cobra.Command, args []string) error {
			lab, err := labOf("reset", args)
			if err != nil {
				return err
			}
			f, err := o.open(lab)
			if err != nil {
				return err
			}
			aside, err := f.Reset(lab)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "what was there is in %s\n", aside)
			fmt.Fprintln(s.Out, f.Dir)
			return nil
		},
	}
}
