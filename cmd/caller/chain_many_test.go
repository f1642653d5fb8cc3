package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/deadlinechain"
)

func TestCostFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in     string
		usual  int64
		random bool
		err    string
	}{
		{"10", 10, false, ""},
		{"uniform(5,15)", 10, true, ""},
		{"uniform( 5, 14 )", 10, true, ""},
		{"uniform(1,1)", 1, true, ""},
		{"lognormal(p50=10,p99=40)", 10, true, ""},
		{"0", 0, false, "not within 1 and"},
		{"", 0, false, "missing"},
		{"5,15", 0, false, "one number"},
		{"ten", 0, false, "not a whole number"},
		{"99999999999999999999", 0, false, "not within"},
		{"uniform", 0, false, "not a whole number"},
		{"normal(5,1)", 0, false, "uniform(5,15) or lognormal"},
		{"uniform()", 0, false, "two numbers"},
		{"uniform(5)", 0, false, "two numbers"},
		{"uniform(5,15", 0, false, "bracket"},
		{"uniform(5,15)x", 0, false, "bracket"},
		{"uniform(5,15))", 0, false, "bracket"},
		{"uniform(15,5)", 0, false, "from the least to the most"},
		{"uniform(0,5)", 0, false, "1 to 1000000000000"},
		{"uniform(-1,5)", 0, false, "1 to 1000000000000"},
		{"uniform(1,99999999999999999999)", 0, false, "1 to 1000000000000"},
		{"uniform(1.5,2)", 0, false, "not a whole number"},
		{"uniform(p50=1,p99=2)", 0, false, "not a whole number"},
		{"lognormal(10,40)", 0, false, "write p50=N"},
		{"lognormal(p99=40,p50=10)", 0, false, "write p50=N"},
		{"lognormal(p50=40,p99=10)", 0, false, "p50 at most p99"},
	} {
		f := costFlag{text: "7", usual: 7}
		err := f.Set(c.in)
		switch {
		case c.err == "" && (err != nil || f.usual != c.usual || f.random() != c.random):
			t.Errorf("Set(%q) = %+v, %v, want %d, random %v", c.in, f, err, c.usual, c.random)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n")):
			t.Errorf("Set(%q) = %v, want one line with %q", c.in, err, c.err)
		case c.err != "" && (f.usual != 7 || f.text != "7"):
			t.Errorf("Set(%q) failed and changed the value to %+v", c.in, f)
		}
	}
}

// From the command line to the settings of each hop.
func TestChainFlagsOfEachHop(t *testing.T) {
	t.Parallel()
	o := chainArgs(t, "--tries 4,3 --own-work 2,0 --backoff 5,0 --backoff-cap 9 --jitter --parallel 1,2 --hop-budget 60,20 --policy pass --seed 3")
	c := o.chains[0]
	wait := deadlinechain.Backoff{Base: 5, Cap: 9, Jitter: true}
	want := []deadlinechain.Hop{
		{Tries: 4, Budget: 60, Work: 2, Backoff: wait, Parallel: 1},
		{Tries: 3, Budget: 20, Parallel: 2},
	}
	if fmt.Sprint(c.PerHop) != fmt.Sprint(want) || c.Hops != 3 || c.Budget != 60 || c.Work != 0 || c.Backoff != (deadlinechain.Backoff{}) || c.Parallel != 0 || c.Seed != 3 {
		t.Errorf("got %+v, want the hops %+v", c, want)
	}
	c = chainArgs(t, "--own-work 2 --backoff 5 --jitter --parallel 4 --policy none").chains[0]
	if c.PerHop != nil || c.Work != 2 || c.Backoff != (deadlinechain.Backoff{Base: 5, Jitter: true}) || c.Parallel != 4 {
		t.Errorf("one number for all: got %+v", c)
	}
	c = chainArgs(t, "--cost uniform(5,15) --needs 14 --policy none").chains[0]
	if c.RandomCost == nil || c.Cost != 14 {
		t.Errorf("--needs: got %+v", c)
	}
}

// The same seed gives the same lines, another one others, and what is in them
// is what the simulator says.
func TestManyRunsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	lines := func(args string) string {
		var out bytes.Buffer
		if err := runChain(t.Context(), chainArgs(t, args), cli.Streams{Out: &out, Err: &bytes.Buffer{}}); err != nil {
			t.Fatalf("chain %s: %v", args, err)
		}
		return out.String()
	}
	const args = "--cost uniform(5,15) --fails 3 --policy pass --format json --runs 500 --seed "
	first := lines(args + "7")
	if again := lines(args + "7"); again != first {
		t.Errorf("chain %s7 gave\n%sand then\n%s", args, first, again)
	}
	if other := lines(args + "8"); strings.ReplaceAll(other, `"seed":8`, `"seed":7`) == first {
		t.Errorf("another seed gave the same: %s", other)
	}
	var got runsLine
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err)
	}
	draw, _ := deadlinechain.Uniform(5, 15)
	want, err := deadlinechain.Repeat(t.Context(), deadlinechain.Chain{
		Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: 3, Policy: deadlinechain.Pass, RandomCost: draw, Seed: 7,
	}, 500)
	if err != nil {
		t.Fatal(err)
	}
	if got.Schema != runsSchema || got.OK != want.OK || got.Runs != 500 || fmt.Sprint(got.Elapsed) != fmt.Sprint(newSpreadLine(want.Elapsed)) ||
		fmt.Sprint(got.LeafCalls) != fmt.Sprint(newSpreadLine(want.LeafCalls)) || *got.Seed != 7 || got.Random != "uniform(5,15)" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.OK == 0 || got.OK == 500 {
		t.Errorf("the entry succeeded in %d of 500 runs: this shows nothing", got.OK)
	}
}

// Whatever the chain: the report is there and fits the page.
func TestChainReportsFit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		args := fmt.Sprintf("--hops %d --tries %d --cost %d --budget %d --fails %d",
			1+r.IntN(1+r.IntN(30)), 1+r.IntN(6), 1+r.Int64N(1_000_000), 1+r.Int64N(5_000_000), r.IntN(20)-1)
		for _, option := range []string{"--backoff 700000", "--own-work 12345", "--stop", "--permanent 3", "--per-try 999999"} {
			if r.IntN(3) == 0 {
				args += " " + option
			}
		}
		if r.IntN(4) == 0 {
			args += " --parallel 2 --fails -1"
		}
		fits(t, args)
	}
}

func TestChainReportsOfManyRunsFit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		args := fmt.Sprintf("--hops %d --budget %d,%d --fails %d --runs %d", 2+r.IntN(2), 1+r.Int64N(5_000_000), 1+r.Int64N(5_000_000_000), r.IntN(5)-1, 2+r.IntN(100))
		args += []string{" --backoff 7000000 --jitter", " --cost lognormal(p50=700000,p99=900000000000)", " --cost uniform(1,1000000000000)"}[r.IntN(3)]
		args += []string{"", " --stop", " --parallel 2", " --own-work 123456789"}[r.IntN(4)]
		fits(t, args)
	}
}

func fits(t *testing.T, args string) {
	t.Helper()
	var out bytes.Buffer
	err := runChain(t.Context(), chainArgs(t, args), cli.Streams{Out: &out, Err: &bytes.Buffer{}})
	if errors.Is(err, deadlinechain.ErrTooLarge) {
		return
	}
	if err != nil || out.Len() == 0 {
		t.Errorf("chain %s: %v, %d bytes", args, err, out.Len())
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > cli.Width || strings.HasSuffix(line, " ") {
			t.Errorf("chain %s: %d columns, or blanks at the end: %q", args, n, line)
		}
	}
}

// What the help shows runs and reports something.
func TestChainExamplesRun(t *testing.T) {
	t.Parallel()
	examples := 0
	for line := range strings.Lines(newChain(cli.Streams{}, nil).Example) {
		args, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "caller chain"), "   ")
		args, _, _ = strings.Cut(strings.ReplaceAll(args, "'", ""), "  ")
		if strings.Contains(args, "--real") { // takes seconds, and has a script of its own
			continue
		}
		examples++
		fits(t, args)
	}
	if examples < 10 {
		t.Errorf("%d examples were found, want at least 10", examples)
	}
}
