package retryqueue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaoslab/budgetcaller"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
	"chaoslab/labs/retryqueue/sqlite"
)

// TestMain is also what the worker processes of the cases below run.
func TestMain(m *testing.M) {
	dir := os.Getenv("RETRYQUEUE_TEST_DIR")
	if dir == "" {
		goleak.VerifyTestMain(m) // it exits
	}
	if err := caseWorker(dir, os.Getenv("RETRYQUEUE_TEST_SEND")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const caseLease = 400 * time.Millisecond

// caseWorker works on the store in dir: with "poison" until nothing is due, and
// it notes each start and kills itself at job X; with "http" until its input
// ends, and it notes when each send began and when its budget would end.
func caseWorker(dir, kind string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "queue.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	notes, err := os.OpenFile(filepath.Join(dir, "notes"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer notes.Close()
	caller, err := budgetcaller.New(budgetcaller.Config{})
	if err != nil {
		return err
	}
	defer caller.Close()
	send := func(_ context.Context, job retryqueue.Job) error {
		fmt.Fprintln(notes, job.ID)
		if job.ID == "X" {
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			return errors.Join(self.Kill(), context.DeadlineExceeded)
		}
		return nil
	}
	if kind == "http" {
		sender := httpsend.New(caller, httpsend.DefaultTable())
		send = func(ctx context.Context, job retryqueue.Job) error {
			until, _ := ctx.Deadline()
			fmt.Fprintln(notes, time.Now().UnixMilli(), until.UnixMilli())
			return sender.Send(ctx, job)
		}
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	queue, err := retryqueue.New(retryqueue.Config{
		Store: store, Send: send, Lease: caseLease,
		Backoff: retryqueue.Backoff{Base: 200 * time.Millisecond, Cap: 200 * time.Millisecond, Jitter: func(string, int) float64 { return 1 }},
	})
	if err != nil {
		return err
	}
	return queue.Work(ctx, retryqueue.WorkConfig{UntilIdle: kind == "poison", Poll: 10 * time.Millisecond})
}

func caseCommand(t *testing.T, dir, kind string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "RETRYQUEUE_TEST_DIR="+dir, "RETRYQUEUE_TEST_SEND="+kind)
	return cmd
}

func caseStore(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "queue.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func notes(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "notes"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestQ1AJobThatKillsItsWorker: a job that sends SIGKILL to its own worker is
// started as often as it may be, and the jobs behind it are all done.
func TestQ1AJobThatKillsItsWorker(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{3, 1} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			store := caseStore(t, dir)
			now := retryqueue.MillisOf(time.Now())
			jobs := []retryqueue.NewJob{{ID: "X", Deadline: now + 3_600_000, MaxAttempts: limit}}
			for i := range 20 {
				jobs = append(jobs, retryqueue.NewJob{ID: fmt.Sprint("harmless-", i), Deadline: now + 3_600_000, MaxAttempts: limit})
			}
			if _, err := store.Add(t.Context(), now, jobs); err != nil {
				t.Fatal(err)
			}
			killed := 0
			for range 10 {
				if err := caseCommand(t, dir, "poison").Run(); err != nil {
					killed++
				}
				time.Sleep(caseLease + 50*time.Millisecond) // the lease of the dead worker must run out
			}
			started := map[string]int{}
			for _, id := range notes(t, dir) {
				started[id]++
			}
			for _, j := range jobs {
				want := 1
				if j.ID == "X" {
					want = limit
				}
				if started[j.ID] != want {
					t.Errorf("%s was started %d times, want %d", j.ID, started[j.ID], want)
				}
			}
			x, err := store.Get(t.Context(), "X")
			if err != nil || x.State != retryqueue.Dead || x.Reason != retryqueue.ReasonExhausted || x.Attempts != limit || killed != limit {
				t.Errorf("X: got %+v, %v, and %d workers killed, want it exhausted after %d", x, err, killed, limit)
			}
			if st, err := store.Stats(t.Context(), now); st.Done != 20 || st.Leased != 0 || st.Pending != 0 || err != nil {
				t.Errorf("got %+v, %v, want 20 done and nothing left", st, err)
			}
		})
	}
}

// TestQ3TheDeadlineDoesNotMove: the receiver answers 503 to everything; the
// worker is killed in the middle and started again, and the job handed in again.
func TestQ3TheDeadlineDoesNotMove(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	second := make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "a" {
			t.Errorf("a request for %q", r.Header.Get("Idempotency-Key"))
		}
		if requests.Add(1) == 2 {
			once.Do(func() { close(second) })
			<-r.Context().Done() // until the worker is killed
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	payload, err := httpsend.Request{URL: server.URL}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := caseStore(t, dir)
	now := retryqueue.MillisOf(time.Now())
	deadline := now + 5000
	job := retryqueue.NewJob{ID: "a", Payload: payload, Deadline: deadline, MaxAttempts: 1000}
	unworked := retryqueue.NewJob{ID: "unworked", Payload: payload, Deadline: now + 1, MaxAttempts: 20}
	if _, err := store.Add(t.Context(), now, []retryqueue.NewJob{job, unworked}); err != nil {
		t.Fatal(err)
	}
	for time.Now().UnixMilli() <= int64(unworked.Deadline) {
		time.Sleep(time.Millisecond) // it passes while no worker runs
	}
	for life := range 2 {
		var out bytes.Buffer
		cmd := caseCommand(t, dir, "http")
		cmd.Stderr = &out
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if life == 0 {
			<-second
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait() // killed
			again := job
			again.Deadline += 60_000
			if added, err := store.Add(t.Context(), retryqueue.MillisOf(time.Now()), []retryqueue.NewJob{again}); err != nil || added[0].New {
				t.Errorf("handed in again: got %+v, %v", added, err)
			}
			continue
		}
		for { // until it is in quarantine
			j, err := store.Get(t.Context(), "a")
			if err != nil || j.Deadline != deadline {
				t.Fatalf("got %+v, %v, want the deadline at %d", j, err, deadline)
			}
			if j.State.Final() {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the worker: %v: %s", err, out.String())
		}
	}
	a, err := store.Get(t.Context(), "a")
	if err != nil || a.State != retryqueue.Dead || a.Reason != retryqueue.ReasonDeadline || a.Deadline != deadline || int64(a.Attempts) < requests.Load() {
		t.Errorf("got %+v, %v, want it dead at its deadline after at least %d attempts", a, err, requests.Load())
	}
	u, err := store.Get(t.Context(), "unworked")
	if err != nil || u.Reason != retryqueue.ReasonDeadline || u.Attempts != 0 {
		t.Errorf("the job whose deadline passed unworked: got %+v, %v, want 0 attempts", u, err)
	}
	for _, note := range notes(t, dir) {
		var began, until int64
		if _, err := fmt.Sscan(note, &began, &until); err != nil || began >= int64(deadline) || until >= int64(deadline) {
			t.Errorf("a send began at %d with a budget until %d, %v: the deadline is %d", began, until, err, deadline)
		}
	}
}
