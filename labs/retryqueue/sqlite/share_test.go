package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

const (
	competition = 2 * time.Second // for how long two processes compete at most
	competeJobs = 4000
	// competeTries is how often they may: on a machine that is busy with other
	// things, one of them can be kept from running for most of the time. With
	// SQLite's own waiting in place of ours, one does next to nothing each time.
	competeTries = 6
)

// compete is one of two processes on one store at full durability: it says that
// it is ready, waits to be told to begin, and then claims and settles as fast as it
// can. It prints how many jobs it did.
func compete(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadByte(); err != nil {
		return err
	}
	did := 0
	var settle []retryqueue.Settlement
	for start := time.Now(); time.Since(start) < competition; {
		now := retryqueue.MillisOf(time.Now())
		taken, err := s.Take(ctx, retryqueue.Take{Now: now, Settle: settle, Claim: 1, LeaseUntil: now + 3_000_000})
		if err != nil {
			return err
		}
		if len(taken.Jobs) == 0 {
			break
		}
		job := taken.Jobs[0]
		settle = []retryqueue.Settlement{{ID: job.ID, Attempt: job.Attempts, State: retryqueue.Done, At: now}}
		did++
	}
	fmt.Println(did)
	return nil
}

// competed lets two processes compete for the jobs of a new store and returns how
// many each did.
func competed(t *testing.T) (did [2]int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "queue.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true, Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	now := retryqueue.MillisOf(time.Now())
	var jobs []retryqueue.NewJob
	for i := range competeJobs {
		jobs = append(jobs, retryqueue.NewJob{ID: fmt.Sprint("job-", i), Deadline: now + 3_600_000, MaxAttempts: 1})
	}
	if _, err := s.Add(t.Context(), now, jobs); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var cmds [2]*exec.Cmd
	var stdin [2]io.Writer
	var stdout [2]*bufio.Reader
	for i := range cmds {
		cmd := child(t, os.Args[0], "compete", path)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds[i], stdin[i], stdout[i] = cmd, in, bufio.NewReader(out)
	}
	line := func(i int) string {
		text, err := stdout[i].ReadString('\n')
		if err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
		return strings.TrimSpace(text)
	}
	for i := range cmds {
		if got := line(i); got != "ready" {
			t.Fatalf("process %d: got %q, want it ready", i, got)
		}
	}
	for i := range cmds {
		if _, err := stdin[i].Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range cmds {
		if did[i], err = strconv.Atoi(line(i)); err != nil {
			t.Fatal(err)
		}
		if err := cmds[i].Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
	return did
}

// Two processes at full durability share the work within 40 : 60. Not parallel:
// the processes of other tests would take the time of one of them.
func TestTwoProcessesShare(t *testing.T) {
	for range competeTries {
		did := competed(t)
		total := did[0] + did[1]
		t.Logf("%d and %d jobs", did[0], did[1])
		if total >= 50 && 100*min(did[0], did[1]) >= 40*total {
			return
		}
	}
	t.Errorf("in none of %d tries did each of them do at least 40 of 100 jobs", competeTries)
}

// Who met another at the lock gives way to it when its turn is over, for longer
// than the other waits before it asks again.
func TestGivesWay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "queue.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true, Normal: true, BusyWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other, err := sql.Open("sqlite", sqlite.DSN(path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	now := retryqueue.MillisOf(time.Now())
	claim := func() error {
		_, err := s.Take(t.Context(), retryqueue.Take{Now: now, Claim: 1, LeaseUntil: now + 1000})
		return err
	}
	held := 0
	for range 10 { // one claim may be slow by chance
		tx, err := other.Begin()
		if err != nil {
			t.Fatal(err)
		}
		met := time.Now()
		if err := claim(); !errors.Is(err, retryqueue.ErrBusy) {
			t.Fatalf("a claim while another holds the lock: got %v, want %v", err, retryqueue.ErrBusy)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sqlite.TurnTime)
		start := time.Now()
		if err := claim(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		if start.Sub(met) > sqlite.CrowdTime/2 {
			continue // the machine stood still: the other may be forgotten
		}
		if held++; took < sqlite.PauseTime {
			t.Errorf("a claim after its turn took %v, want at least %v", took, sqlite.PauseTime)
		}
	}
	if held == 0 {
		t.Error("the machine stood still each time: nothing was held")
	}
}
