package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/storm"
)

// aSlowResult makes one up.
func aSlowResult(r *rand.Rand, name string) slowResult {
	phase := func() storm.SlowPhase {
		return storm.SlowPhase{
			AtMost: r.Float64() * 1000, Could: r.Float64() * 1000, Ended: r.Float64() * 1000,
			Needs:  storm.Served{Due: r.IntN(1000), Good: r.IntN(10)},
			Others: storm.Served{Due: r.IntN(1000), Good: r.IntN(10), P99: time.Duration(r.IntN(30_000)) * time.Millisecond},
		}
	}
	cfg, _ := storm.SlowConfig{
		Workers: 1 + r.IntN(1000), Usual: 1234567 * time.Nanosecond, Slow: time.Duration(1+r.IntN(30_000)) * time.Millisecond,
		Limit: time.Duration(1+r.IntN(300_000)) * time.Millisecond,
	}.Complete()
	return slowResult{name, &storm.SlowReport{Config: cfg, Interrupted: r.IntN(5) == 0, Usual: phase(), Failing: phase()}}
}

func TestStormSlowReportsFit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		results := []slowResult{aSlowResult(r, "generous"), aSlowResult(r, "tight")}
		for _, format := range []string{"table", "json"} {
			o := newSlowOptions()
			o.format.Value = format
			var out bytes.Buffer
			if err := reportSlow(&out, o, results); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); format == "table" && (n > cli.Width || strings.HasSuffix(line, " ")) {
					t.Fatalf("seed %d: %d columns, or blanks at the end: %q", seed, n, line)
				}
			}
			broken := &errWriter{w: failingWriter{}}
			if err := errors.Join(reportSlow(broken, o, results), broken.err); !errors.Is(err, os.ErrClosed) {
				t.Errorf("%s to a writer that fails: %v, want %v", format, err, os.ErrClosed)
			}
		}
	}
}

func TestStormSlowIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	code := cli.Run(ctx, newRoot, []string{"storm", "slow-partner"}, cli.Streams{Out: &out, Err: &errs})
	if code != cli.ExitInterrupted || !strings.Contains(errs.String(), "interrupted") || !strings.Contains(out.String(), "as usual") {
		t.Errorf("exit code %d, stdout %q, stderr %q, want %d and what was measured", code, out.String(), errs.String(), cli.ExitInterrupted)
	}
}
