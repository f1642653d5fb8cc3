package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
)

// slowReceiver is a receiver that answers once it is released.
type slowReceiver struct {
	url     string
	reached chan struct{}
	release chan struct{}
}

func newSlowReceiver(t *testing.T) *slowReceiver {
	r := &slowReceiver{reached: make(chan struct{}, 16), release: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		r.reached <- struct{}{}
		select {
		case <-r.release:
		case <-req.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *slowReceiver) awaitReached(t *testing.T) {
	t.Helper()
	select {
	case <-r.reached:
	case <-time.After(watchdog):
		t.Fatal("nothing was sent")
	}
}

func TestQueueWorkStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		args     []string
		release  bool // the receiver answers after the signal
		code     int
		out, err string
		state    retryqueue.State
	}{
		{"once, the send can end", []string{"--once"}, true, 0, "done         a  attempt 1 of 5 ", "", retryqueue.Done},
		{"once, it takes longer than the grace", []string{"--once", "--grace", "50ms"}, false, 0, "put_back     a  attempt 1 of 5 ", "", retryqueue.Pending},
		{"until stopped", []string{"--grace", "50ms"}, false, 0, "put_back     a  attempt 1 of 5 ", "", retryqueue.Pending},
		{"until idle", []string{"--until-idle"}, true, cli.ExitInterrupted, "done         a  attempt 1 of 5 ", "caller: interrupted before the queue was idle\n", retryqueue.Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, store := newStore(t)
			receiver := newSlowReceiver(t)
			addJobs(t, store, receiver.url, "a", "b")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := startCaller(ctx, strings.NewReader(""), slices.Concat([]string{"queue", "work", "--store", path}, c.args)...)
			receiver.awaitReached(t)
			cancel()
			if c.release {
				time.Sleep(50 * time.Millisecond) // so that the signal is the first
				close(receiver.release)
			}
			r.wait(t)
			if r.code != c.code || !strings.HasPrefix(r.out.String(), c.out) || strings.Count(r.out.String(), "\n") != 1 || r.errs.String() != c.err {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d, one line %q and %q", r.code, r.out.String(), r.errs.String(), c.code, c.out, c.err)
			}
			if j, err := store.Get(t.Context(), "a"); err != nil || j.State != c.state || j.Attempts != 1 {
				t.Errorf("then job a is %v with %d attempts (%v), want %v and its one attempt spent", j.State, j.Attempts, err, c.state)
			}
			if j, err := store.Get(t.Context(), "b"); err != nil || j.Attempts != 0 {
				t.Errorf("job b: %d attempts (%v), want none after the signal", j.Attempts, err)
			}
		})
	}
}

func TestQueueWorkOnceDoesOneJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, table string
		code        int
		out, err    string
	}{
		{"accepted", `{"ok":"done"}`, 0, "done         a  attempt 1 of 5 ", ""},
		{"unclassified", `{"ok":"unclassified"}`, 1, "unclassified a  attempt 1 of 5 ", "caller: status 200\n"},
		{"given up", `{"ok":"permanent"}`, 0, "dead         a  attempt 1 of 5 ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, store := newStore(t)
			receiver := newSlowReceiver(t)
			close(receiver.release)
			addJobs(t, store, receiver.url, "a", "b")
			r := startCaller(t.Context(), nil, "queue", "work", "--once", "--store", path, "--table", tempFile(t, c.table))
			if r.wait(t); r.code != c.code || !strings.HasPrefix(r.out.String(), c.out) || strings.Count(r.out.String(), "\n") != 1 || r.errs.String() != c.err {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d, one line %q and %q", r.code, r.out.String(), r.errs.String(), c.code, c.out, c.err)
			}
		})
	}
}

func addJobs(t *testing.T, store retryqueue.Store, url string, ids ...string) {
	t.Helper()
	payload, err := httpsend.Request{URL: url}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	now := nowMillis()
	for _, id := range ids {
		if _, err := store.Add(t.Context(), now, []retryqueue.NewJob{{ID: id, Payload: payload, MaxAttempts: 5, Deadline: now.Add(time.Hour)}}); err != nil {
			t.Fatal(err)
		}
	}
}

func tempFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What every worker meets twice a second is told once, until it is something else.
func TestQueueWorkTellsATroubleOnce(t *testing.T) {
	t.Parallel()
	full, busy := retryqueue.Report{Outcome: retryqueue.Failed, Err: retryqueue.ErrFull}, retryqueue.Report{Outcome: retryqueue.Failed, Err: retryqueue.ErrBusy}
	done := retryqueue.Report{Outcome: retryqueue.Succeeded, Job: retryqueue.Job{ID: "a"}}
	for _, c := range []struct {
		name    string
		again   time.Duration
		reports []retryqueue.Report
		want    int
	}{
		{"the same", time.Hour, []retryqueue.Report{full, full, full}, 1},
		{"another", time.Hour, []retryqueue.Report{full, busy, busy}, 2},
		{"two in turn, as several workers meet them", time.Hour, []retryqueue.Report{full, busy, full, busy}, 2},
		{"the same after a success", time.Hour, []retryqueue.Report{full, full, done, full}, 2},
		{"idle in between", time.Hour, []retryqueue.Report{full, {}, full}, 1},
		{"the same, later", 0, []retryqueue.Report{full, full}, 2},
	} {
		var out, errs strings.Builder
		w := &workReport{s: cli.Streams{Out: &out, Err: &errs}, again: c.again}
		for _, r := range c.reports {
			w.tell(r)
		}
		if got := strings.Count(errs.String(), "\n"); got != c.want || w.err != nil {
			t.Errorf("%s: got %d lines (%q), want %d", c.name, got, errs.String(), c.want)
		}
	}
}
