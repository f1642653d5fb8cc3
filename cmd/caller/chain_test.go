package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

func TestNumbersFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		list bool
		want []int64
		err  string
	}{
		{"3", false, []int64{3}, ""},
		{"2,3, 4", true, []int64{2, 3, 4}, ""},
		{"2,3", false, nil, "one number"},
		{"", true, nil, "missing"},
		{",", true, nil, "missing"},
		{"2,", true, nil, "missing"},
		{"0", true, nil, "not within 1 and 100"},
		{"-1", true, nil, "not within"},
		{"101", true, nil, "not within"},
		{"9223372036854775808", true, nil, "not within"},
		{"-9223372036854775809", true, nil, "not within"},
		{"1.5", true, nil, "not a whole number"},
		{"1e3", true, nil, "not a whole number"},
		{"0x10", true, nil, "not a whole number"},
		{"ten", true, nil, "not a whole number"},
		{strings.Repeat("1,", maxNumbers) + "1", true, nil, "at most"},
	} {
		n := numbers{values: []int64{7}, least: 1, most: 100, list: c.list}
		err := n.Set(c.in)
		switch {
		case c.err == "" && (err != nil || !slices.Equal(n.values, c.want)):
			t.Errorf("Set(%q) = %v, %v, want %v", c.in, n.values, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("Set(%q) = %v, %v, want an error with %q", c.in, n.values, err, c.err)
		case c.err != "" && n.first() != 7:
			t.Errorf("Set(%q) failed and changed the value to %v", c.in, n.values)
		}
	}
}

func FuzzNumbersFlag(f *testing.F) {
	for _, s := range []string{"3", "2,3", "-1", "9223372036854775808", ",", "1 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := numbers{least: -1, most: 1000, list: true}
		if n.Set(s) != nil {
			return
		}
		again := numbers{least: -1, most: 1000, list: true}
		if err := again.Set(n.String()); err != nil || !slices.Equal(n.values, again.values) {
			t.Errorf("Set(%q) gives %v, written %q, read back %v, %v", s, n.values, n.String(), again.values, err)
		}
	})
}

// From the command line to the chains.
func TestChainFlags(t *testing.T) {
	t.Parallel()
	const standard = "3 hops 3 tries [] cost 10 budget 45 fails -1"
	for _, c := range []struct {
		args string
		want []string
	}{
		{"", []string{standard + " none", standard + " each", standard + " pass"}},
		{"--policy pass", []string{standard + " pass"}},
		{"--hops 2,4 --budget 5,6 --policy each", []string{
			"2 hops 3 tries [] cost 10 budget 5 fails -1 each", "2 hops 3 tries [] cost 10 budget 6 fails -1 each",
			"4 hops 3 tries [] cost 10 budget 5 fails -1 each", "4 hops 3 tries [] cost 10 budget 6 fails -1 each",
		}},
		{"--tries 4,3 --policy none", []string{"3 hops 4 tries [4 3] cost 10 budget 45 fails -1 none"}},
		{"--per-try 5 --policy each", []string{"3 hops 3 tries [] cost 0 budget 45 fails -1 each"}},
		{"--per-try 5 --cost 10 --policy each", []string{standard + " each"}},
		{"--per-try 5 --fails 9", []string{"3 hops 3 tries [] cost 0 budget 45 fails 9 each", "3 hops 3 tries [] cost 0 budget 45 fails 9 pass"}},
	} {
		var got []string
		o := chainArgs(t, c.args)
		for _, ch := range o.chains {
			got = append(got, fmt.Sprintf("%d hops %d tries %v cost %d budget %d fails %d %s",
				ch.Hops, ch.Tries, perHopTries(ch), ch.Cost, ch.Budget, ch.Fails, ch.Policy))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("chain %s:\n got %q\nwant %q", c.args, got, c.want)
		}
	}
}

func perHopTries(c deadlinechain.Chain) []int {
	var tries []int
	for _, h := range c.PerHop {
		tries = append(tries, h.Tries)
	}
	return tries
}

// chainArgs returns the options of a command line, which is not run.
func chainArgs(t *testing.T, args string) *chainOptions {
	t.Helper()
	var seen *chainOptions
	cmd := newChain(cli.Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, func(_ context.Context, o *chainOptions, _ cli.Streams) error {
		seen = o
		return nil
	})
	cmd.SetArgs(strings.Fields(args))
	if err := cmd.Execute(); err != nil {
		t.Fatalf("chain %s: %v", args, err)
	}
	return seen
}

func TestChainOverlappingCallsHaveRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	// The entry waits 15 for hop 2, which works on while the next one begins.
	o := chainArgs(t, "--tries 2 --cost 10 --per-try 15 --policy none")
	var out bytes.Buffer
	if err := runChain(t.Context(), o, cli.Streams{Out: &out, Err: &bytes.Buffer{}}); err != nil {
		t.Fatal(err)
	}
	const want = `
time    0        5        10       15       20       25       30        35
entry   [----------------------------------------------------x
hop 2   [----------------------------------x
                                   [--------------------------~~~~~~~~~x
leaf    [================x[================x         [========~~~~~~~~~x
                                   [================x
`
	if !strings.Contains(out.String(), want) {
		t.Errorf("got:\n%s\nwant in it:%s", out.String(), want)
	}
}

func TestChainIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs bytes.Buffer
	code := cli.Run(ctx, newRoot, []string{"chain", "--policy", "pass"}, cli.Streams{Out: &bytes.Buffer{}, Err: &errs})
	if code != cli.ExitInterrupted {
		t.Errorf("exit code %d, %s, want %d", code, errs.String(), cli.ExitInterrupted)
	}
}

func TestChainSaysWhenItCannotWrite(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "json", "csv"} {
		err := runChain(t.Context(), chainArgs(t, "--format "+format), cli.Streams{Out: failingWriter{}, Err: &bytes.Buffer{}})
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s to a writer that fails: %v, want %v", format, err, os.ErrClosed)
		}
	}
}
