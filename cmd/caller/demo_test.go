package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// demoWith runs the demo with a black hole of the test's own.
func demoWith(ctx context.Context, format string, hole func(context.Context, time.Duration) (measureLine, error)) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	o := &demoOptions{format: cli.Format("table", "json"), blackHole: hole}
	o.format.Value = format
	code = exitCode(runDemo(ctx, o, cli.Streams{Out: &stdout, Err: &stderr}), &stderr)
	return code, stdout.String(), stderr.String()
}

// holeOf answers with a measurement of that class.
func holeOf(class budgetcaller.Class) func(context.Context, time.Duration) (measureLine, error) {
	return func(_ context.Context, limit time.Duration) (measureLine, error) {
		how := howEnded{Class: class, Phase: budgetcaller.PhaseConnect, Elapsed: cli.Millis(limit)}
		return measureLine{Schema: measureSchema, howEnded: how}, nil
	}
}

func TestDemoLeavesOutWhatCannotBe(t *testing.T) {
	t.Parallel()
	code, out, errs := demoWith(context.Background(), "table", func(context.Context, time.Duration) (measureLine, error) {
		return measureLine{}, errors.New("not allowed here")
	})
	if code != cli.ExitOK || errs != "demo: "+blackHole().String()+" is left out: not allowed here\n" || strings.Contains(out, blackHole().String()) || !strings.Contains(out, "\n3. ") {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant 0, one line, and the rest", code, errs, out)
	}
}

func TestDemoSaysWhatCameOutOtherwise(t *testing.T) {
	t.Parallel()
	code, out, errs := demoWith(context.Background(), "table", holeOf(budgetcaller.ClassRefused))
	if code != cli.ExitFailed || !strings.Contains(errs, blackHole().String()+" was to end in connect_timeout and ended in refused") || strings.Count(errs, "\n") != 1 || !strings.Contains(out, "slow, 3 s") {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant 1, one line, and the table", code, errs, out)
	}
}

func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(context.Background())
	start := time.Now()
	code, out, errs := demoWith(ctx, "json", func(context.Context, time.Duration) (measureLine, error) {
		interrupt()
		return measureLine{}, context.Canceled
	})
	if code != cli.ExitInterrupted || !strings.HasSuffix(errs, "caller: interrupted after 2 of 6 calls\n") || strings.Count(out, measureSchema) != 2 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant 130 and two calls", code, errs, out)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v, want the end right after the interrupt", took)
	}
}
