package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// On a disk that is really full, every operation says so in one line, nothing is
// half-written, and all goes on once there is room. The disk is a small one in
// memory, in a mount namespace of a child's own.
func TestReallyFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := child(t, os.Args[0], "full", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Start()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) { // forbidden, or none allowed
		t.Skipf("no mount namespace here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if strings.Contains(out.String(), errNoMount.Error()) {
		t.Skip(out.String())
	}
	if err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
}

var errNoMount = errors.New("no file system can be mounted here")

// onFullDisk is what the child does.
func onFullDisk(dir string) error {
	for _, m := range []struct {
		what, where, kind string
		flags             uintptr
		data              string
	}{{"none", "/", "", syscall.MS_REC | syscall.MS_PRIVATE, ""}, {"tmpfs", dir, "tmpfs", 0, "size=1m"}} {
		if err := syscall.Mount(m.what, m.where, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("%w: %w", errNoMount, err)
		}
	}
	ctx, path, filler := context.Background(), filepath.Join(dir, "queue.db"), filepath.Join(dir, "filler")
	job := func(id string) []retryqueue.NewJob {
		return []retryqueue.NewJob{{ID: id, Payload: make([]byte, 50_000), Deadline: 1000, MaxAttempts: 9}}
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
	if err != nil {
		return err
	}
	if _, err := s.Add(ctx, 10, job("first")); err != nil {
		return err
	}
	if err := errors.Join(s.Close(), fill(filler)); err != nil {
		return err
	}
	_, openErr := sqlite.Open(ctx, path, sqlite.Options{})
	_, newErr := sqlite.Open(ctx, filepath.Join(dir, "new.db"), sqlite.Options{Create: true})
	if left, err := filepath.Glob(filepath.Join(dir, "new.db*")); err != nil || len(left) > 0 {
		return fmt.Errorf("a store that could not be made left %v (%w)", left, err)
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	if s, err = sqlite.Open(ctx, path, sqlite.Options{}); err != nil {
		return err
	}
	if err := fill(filler); err != nil {
		return err
	}
	_, addErr := s.Add(ctx, 10, job("second"))
	_ = s.Close() // it may not be able to empty its log
	for what, err := range map[string]error{"Add": addErr, "Open": openErr, "Open of a new one": newErr} {
		if !errors.Is(err, retryqueue.ErrFull) || strings.Contains(err.Error(), "\n") {
			return fmt.Errorf("%s: got %w, want one line with %w", what, err, retryqueue.ErrFull)
		}
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	if s, err = sqlite.Open(ctx, path, sqlite.Options{}); err != nil {
		return err
	}
	defer s.Close()
	st, err := s.Stats(ctx, 10)
	if err != nil || st.Pending != 1 {
		return fmt.Errorf("with room again: got %+v, %w, want the first job alone", st, err)
	}
	if taken, err := s.Take(ctx, retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 100}); err != nil || len(taken.Jobs) != 1 {
		return fmt.Errorf("with room again: got %+v, %w", taken, err)
	}
	return s.Check(ctx)
}

// fill writes to path until the disk is full.
func fill(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	for n := 0; n < 10_000; n++ {
		if _, err := f.Write(make([]byte, 4096)); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errors.New("the disk does not become full")
}
