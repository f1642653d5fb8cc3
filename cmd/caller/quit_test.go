//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
)

func TestSIGQUITEndsItWithoutStacks(t *testing.T) {
	t.Parallel()
	spec, err := faults.Parse("read-timeout")
	if err != nil {
		t.Fatal(err)
	}
	partner, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{spec}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer partner.Close(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	cmd := exec.CommandContext(ctx, "caller", "measure", partner.Listeners()[0].URL)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(partner.Ledger().Entries(faults.Query{})) == 0 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Error(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitInterrupted || strings.Contains(errs.String(), "goroutine") || !strings.Contains(out.String(), "canceled") {
		t.Errorf("got %v, stdout %q, stderr %q; want exit code %d, what was measured, and no stacks", err, out.String(), errs.String(), cli.ExitInterrupted)
	}
}
