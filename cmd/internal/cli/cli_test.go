package cli

import (
	"bytes"
	"context"
	"errors"
	"go/build"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// build returns a command line with one subcommand that fails with err.
func buildWith(err error) func(Streams) *cobra.Command {
	return func(Streams) *cobra.Command {
		root := &cobra.Command{Use: "tool"}
		sub := &cobra.Command{Use: "work", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return err }}
		sub.Flags().Var(&Duration{}, "limit", "a limit")
		sub.Flags().IntP("runs", "n", 1, "runs")
		run := func(*cobra.Command, []string) error { return nil }
		group := &cobra.Command{Use: "group", RunE: run}
		group.AddCommand(&cobra.Command{Use: "work", RunE: run})
		root.AddCommand(sub, group,
			&cobra.Command{Use: "one", Args: cobra.MaximumNArgs(1), RunE: run},
			&cobra.Command{Use: "picky", Args: func(*cobra.Command, []string) error { return Usagef("not x") }, RunE: run},
		)
		return root
	}
}

func TestRunExitCodesAndLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		err  error
		code int
		line string // of stderr
	}{
		{"done", []string{"work"}, nil, ExitOK, ""},
		{"an error", []string{"work"}, errors.New("disk: full"), ExitFailed, "tool: disk: full\n"},
		{"several lines become one", []string{"work"}, errors.New("a\nb\n\tc"), ExitFailed, "tool: a b c\n"},
		{"usage", []string{"work"}, Usagef("no URL"), ExitUsage, "tool: no URL\n"},
		{"a code with a line", []string{"work"}, Exit(ExitInconclusive, errors.New("cannot tell")), ExitInconclusive, "tool: cannot tell\n"},
		{"a code without a line", []string{"work"}, Exit(ExitInterrupted, nil), ExitInterrupted, ""},
		{"unknown command", []string{"wrok"}, nil, ExitUsage, `tool: unknown command "wrok" for "tool" Did you mean this? work; try "tool --help"` + "\n"},
		{"unknown command under another", []string{"group", "wrok"}, nil, ExitUsage, `tool: unknown command "wrok" for "tool group" Did you mean this? work; try "tool group --help"` + "\n"},
		{"no command under another", []string{"group", "nonsense"}, nil, ExitUsage, `tool: unknown command "nonsense" for "tool group"; try "tool group --help"` + "\n"},
		{"unknown flag", []string{"work", "--nope"}, nil, ExitUsage, `tool: unknown flag: --nope; try "tool work --help"` + "\n"},
		{
			"bad value",
			[]string{"work", "--limit", "5"},
			nil, ExitUsage, `tool: invalid argument "5" for "--limit" flag: "5" has no unit: write 5ms or 5s; try "tool work --help"` + "\n",
		},
		{"no number", []string{"work", "-n", "x"}, nil, ExitUsage, `tool: invalid argument "x" for --runs: not a number it takes; try "tool work --help"` + "\n"},
		{"a huge number", []string{"work", "-n", "99999999999999999999"}, nil, ExitUsage, `tool: invalid argument "99999999999999999999" for --runs: out of range; try "tool work --help"` + "\n"},
		{"unknown topic", []string{"help", "wrok"}, nil, ExitUsage, `tool: no help on "wrok"; try "tool --help"` + "\n"},
		{"an argument too many", []string{"work", "x"}, nil, ExitUsage, `tool: unknown command "x" for "tool work"; try "tool work --help"` + "\n"},
		{"arguments too many", []string{"one", "x", "y"}, nil, ExitUsage, `tool: accepts at most 1 arg(s), received 2; try "tool one --help"` + "\n"},
		{"an argument that usage refuses", []string{"picky", "x"}, nil, ExitUsage, "tool: not x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			code := Run(context.Background(), buildWith(c.err), c.args, Streams{Out: &out, Err: &errs})
			if code != c.code || errs.String() != c.line {
				t.Errorf("%q: got code %d, stderr %q; want code %d, stderr %q", c.args, code, errs.String(), c.code, c.line)
			}
			if out.Len() > 0 {
				t.Errorf("%q: stdout %q, want nothing", c.args, out.String())
			}
		})
	}
}

func TestHelpOnACommand(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	code := Run(context.Background(), buildWith(nil), []string{"help", "work"}, Streams{Out: &out, Err: &errs})
	if code != ExitOK || errs.Len() > 0 || !strings.Contains(out.String(), "--limit duration") {
		t.Errorf("code %d, stdout %q, stderr %q; want the help of work", code, out.String(), errs.String())
	}
}

func TestExitKeepsTheError(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	if err := Exit(ExitFailed, cause); !errors.Is(err, cause) {
		t.Errorf("errors.Is(%v, cause) is false, want true", err)
	}
	if got := Exit(ExitInterrupted, nil).Error(); got != "exit code 130" {
		t.Errorf("error without a line reads %q, want %q", got, "exit code 130")
	}
}

// TestImports holds that this package rests on nothing of the project: it is
// shared by both commands, which share nothing else.
func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports) {
		if strings.HasPrefix(path, "chaoslab/") {
			t.Errorf("imports %s, want nothing of the project", path)
		}
	}
}
