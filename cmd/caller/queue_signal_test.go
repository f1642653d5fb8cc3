//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"chaoslab/cmd/internal/cli"
)

func TestQueueAddEndsOnASignalWhileStdinIsOpen(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		path, store := newStore(t)
		ctx, cancel := context.WithTimeout(t.Context(), watchdog)
		defer cancel()
		cmd := exec.CommandContext(ctx, "caller", "queue", "add", "-", "--store", path)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(stdin, `{"id":"a","url":"http://127.0.0.1:1/"}`)
		awaitJob(t, store, "a")
		if err := cmd.Process.Signal(sig); err != nil {
			t.Error(err)
		}
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitInterrupted || out.String() != "added 1, known 0\n" || errs.String() != "caller: interrupted after line 1\n" {
			t.Errorf("%v: got %v, stdout %q, stderr %q; want exit code %d and what was added", sig, err, out.String(), errs.String(), cli.ExitInterrupted)
		}
	}
}
