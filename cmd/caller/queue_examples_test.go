package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/internal/skip"
)

// TestQueueExamplesRun runs the examples of the help as they stand, in a folder
// whose queue has one dead job, order-17. Those that would not end, would send to
// whoever listens there or need a PostgreSQL are parsed only.
func TestQueueExamplesRun(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("sh")
	skip.Missing(t, err)
	dir := t.TempDir()
	sh := func(command string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	parsedOnly := func(example string) bool {
		for _, word := range []string{"queue work --once", "queue work --workers", "queue prove"} {
			if strings.Contains(example, word) {
				return true
			}
		}
		return false
	}
	if out, err := sh(`caller queue init && caller queue add http://127.0.0.1:1/ --id order-17 --max-attempts 1 && caller queue work --once`); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root := newRoot(cli.Streams{})
	queue, _, err := root.Find([]string{"queue"})
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, cmd := range slices.Concat([]*cobra.Command{queue}, queue.Commands()) {
		if cmd.IsAvailableCommand() && cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for example := range strings.Lines(cmd.Example) {
			example = strings.TrimSpace(example)
			parseExample(t, root, example)
			if parsedOnly(example) || ran[example] {
				continue
			}
			ran[example] = true
			if out, err := sh(example); err != nil {
				t.Errorf("%s: %v: %s", example, err, out)
			}
		}
	}
	if len(ran) < 8 {
		t.Errorf("%d examples were run, want the most of them: %v", len(ran), ran)
	}
}

// parseExample checks the flags and arguments of the one command of caller in a
// line of shell.
func parseExample(t *testing.T, root *cobra.Command, example string) {
	t.Helper()
	_, args, found := strings.Cut(example, "caller ")
	if !found {
		t.Errorf("%q does not run caller", example)
		return
	}
	args, _, _ = strings.Cut(args, ">")
	cmd, rest, err := root.Find(strings.Fields(args))
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil || cmd.Name() == "queue" {
		t.Errorf("%q: %v", example, err)
	}
}
