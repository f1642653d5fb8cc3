package sqlite_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// TestMain is also what the child processes of the tests run.
func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv("RETRYQUEUE_TEST_ROLE"); role {
	case "":
		os.Exit(m.Run())
	case "share":
		err = share(os.Getenv("RETRYQUEUE_TEST_STORE"))
	case "compete":
		err = compete(os.Getenv("RETRYQUEUE_TEST_STORE"))
	case "open":
		_, err = sqlite.Open(context.Background(), os.Getenv("RETRYQUEUE_TEST_STORE"), sqlite.Options{Create: true})
	case "full":
		err = onFullDisk(os.Getenv("RETRYQUEUE_TEST_STORE"))
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(t *testing.T, binary, role, store string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "RETRYQUEUE_TEST_ROLE="+role, "RETRYQUEUE_TEST_STORE="+store)
	cmd.WaitDelay = time.Second
	return cmd
}

const sharedJobs = 50 // that each process hands in

// share is one of several processes on one store: it hands jobs in while it
// works, until all are done. It prints how many it did.
func share(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	s, err := sqlite.Open(ctx, path, sqlite.Options{Create: true, Normal: true})
	if err != nil {
		return err
	}
	defer s.Close()
	name, did := strconv.Itoa(os.Getpid()), 0
	for added := 0; ; {
		now := retryqueue.MillisOf(time.Now())
		if added < sharedJobs {
			job := retryqueue.NewJob{ID: fmt.Sprint(name, "-", added), Deadline: now + 3_600_000, MaxAttempts: 1}
			if _, err := s.Add(ctx, now, []retryqueue.NewJob{job}); err != nil {
				return err
			}
			added++
		}
		taken, err := s.Take(ctx, retryqueue.Take{Now: now, Claim: 1, LeaseUntil: now + 3_000_000})
		if err != nil {
			return err
		}
		if len(taken.Jobs) == 0 && added == sharedJobs {
			fmt.Println(did)
			return nil
		}
		for _, j := range taken.Jobs {
			done, err := s.Take(ctx, retryqueue.Take{Now: now, Settle: []retryqueue.Settlement{{ID: j.ID, Attempt: j.Attempts, State: retryqueue.Done, At: now}}})
			if err != nil || len(done.Lost) > 0 {
				return fmt.Errorf("settle: lost %v, %w", done.Lost, err)
			}
			did++
		}
	}
}

// Eight processes make the store together and share it, each with a writer of
// its own: no "database is locked", nothing done twice, nothing left.
func TestEightProcesses(t *testing.T) {
	t.Parallel()
	const processes = 8
	path := filepath.Join(t.TempDir(), "queue.db")
	var cmds []*exec.Cmd
	var outs []*strings.Builder
	for range processes {
		cmd, out := child(t, os.Args[0], "share", path), &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	total := 0
	for i, cmd := range cmds {
		err := cmd.Wait()
		n, _ := strconv.Atoi(strings.TrimSpace(outs[i].String()))
		if err != nil {
			t.Errorf("process %d: %v: %s", i, err, outs[i])
		}
		total += n
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st, err := s.Stats(t.Context(), 1)
	if want := int64(processes * sharedJobs); st.Done != want || st.Attempts != want || int64(total) != want || err != nil {
		t.Errorf("got %+v, %v, and %d done by their own count, want %d", st, err, total, want)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// A store that may only be read is refused in one line. Root may write
// everywhere, so the child gives root up.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions work otherwise on Windows")
	}
	dir, err := os.MkdirTemp("", "retryqueue-readonly-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o755)
		_ = os.RemoveAll(dir)
	})
	path, binary := filepath.Join(dir, "queue.db"), filepath.Join(dir, "child")
	made(t, path)
	copyFile(t, os.Args[0], binary)
	for name, mode := range map[string]os.FileMode{path: 0o444, dir: 0o555} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := child(t, binary, "open", path)
	cmd.Dir = dir
	if os.Geteuid() == 0 {
		giveUpRoot(cmd)
	}
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("store %s: %v\n", path, retryqueue.ErrReadOnly); err == nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
