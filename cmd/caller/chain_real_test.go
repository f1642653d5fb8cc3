package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
)

// An interrupt ends the chain under way at once; what was measured is printed.
func TestRealChainIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, budgets, out, err string
		after                   time.Duration
	}{
		{"first", "1100", "", "interrupted after 0 of 1 chains", 200 * time.Millisecond},
		{"second", "1,1100", "1000 ", "interrupted after 1 of 2 chains", 1500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			defer time.AfterFunc(c.after, cancel).Stop()
			var out, errs bytes.Buffer
			began := time.Now()
			// The first budget lets nobody start, so that it is over at once.
			code := cli.Run(ctx, newRoot, []string{"chain", "--real", "--policy", "pass", "--cost", "1000", "--budget", c.budgets},
				cli.Streams{Out: &out, Err: &errs})
			if took := time.Since(began); code != cli.ExitInterrupted || took > c.after+6*time.Second {
				t.Errorf("exit code %d after %v, want %d at once", code, took, cli.ExitInterrupted)
			}
			if !strings.Contains(errs.String(), c.err) || (out.Len() > 0) != (c.out != "") {
				t.Errorf("stderr %q, want %q; stdout: %s", errs.String(), c.err, out.String())
			}
		})
	}
}
