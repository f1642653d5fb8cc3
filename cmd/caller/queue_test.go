package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/internal/pgtest"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/stores"
)

func TestQueueMetricsAreServed(t *testing.T) {
	t.Parallel()
	store, err := stores.Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"), stores.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var told bytes.Buffer
	m, stop, err := serveMetrics("127.0.0.1:0", store, cli.Streams{Err: &told})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	m.Observe(retryqueue.Report{Outcome: retryqueue.Lost})
	url := strings.TrimSpace(strings.TrimPrefix(told.String(), "metrics on "))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	for _, want := range []string{`retryqueue_jobs{state="pending"} 0`, `retryqueue_outcomes_total{outcome="lost"} 1`, `retryqueue_oldest_pending_seconds{since="due"} 0`} {
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: %v, want %s in\n%s", url, err, want, body)
		}
	}
}

// Who only looks waits for no writer.
func TestQueueLooksWhileItIsLocked(t *testing.T) {
	t.Parallel()
	path, store := newStore(t)
	addJobs(t, store, "http://127.0.0.1:1/", "a")
	db, err := stores.DB(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin() // takes the write lock
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}()
	for args, want := range map[string]string{"stats": "pending                      1\n", "list": "a   pending  0 of 5\n", "show a": "state        pending\n"} {
		r := startCaller(t.Context(), nil, append([]string{"queue", "--store", path}, strings.Fields(args)...)...)
		if r.wait(t); r.code != 0 || !strings.Contains(r.out.String(), want) || r.errs.Len() > 0 {
			t.Errorf("queue %s: exit code %d, stdout %q, stderr %q; want 0 and %q", args, r.code, r.out.String(), r.errs.String(), want)
		}
	}
}

func TestQueueSaysWhatToDoAboutItsStore(t *testing.T) {
	t.Parallel()
	path, _ := newStore(t)
	db, err := stores.DB(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	want := "caller: store " + path + ": the store was made by a newer version: its schema is 99, this program knows 1; use the caller that made it or a later one\n"
	for _, args := range []string{"stats", "init", "work --once", "purge --older-than 1h"} {
		r := startCaller(t.Context(), nil, append([]string{"queue", "--store", path}, strings.Fields(args)...)...)
		if r.wait(t); r.code != 1 || r.out.Len() > 0 || r.errs.String() != want {
			t.Errorf("queue %s: exit code %d, stdout %q, stderr %q; want 1 and %q", args, r.code, r.out.String(), r.errs.String(), want)
		}
	}
	// A worker whose store is deleted ends.
	path, store := newStore(t)
	receiver := newSlowReceiver(t)
	addJobs(t, store, receiver.url, "a", "b")
	r := startCaller(t.Context(), nil, "queue", "--store", path, "work", "--until-idle")
	receiver.awaitReached(t)
	if err := os.Remove(path); err != nil {
		t.Skipf("an open file cannot be deleted here: %v", err)
	}
	time.Sleep(300 * time.Millisecond) // the store looks at its file ten times a second
	close(receiver.release)
	if r.wait(t); r.code != 1 || !strings.Contains(r.errs.String(), "the store is gone") || strings.Count(r.errs.String(), "\n") != 1 {
		t.Errorf("work on a store that was deleted: exit code %d, stdout %q, stderr %q; want 1 and one line", r.code, r.out.String(), r.errs.String())
	}
}

// The same commands work on PostgreSQL.
func TestQueueOnPostgres(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context())
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		args, out, err string
		code           int
	}{
		{"stats", "", "make one with: caller queue init --store postgres://...\n", 1},
		{"init", "", "the store is ready\n", 0},
		{"add http://127.0.0.1:1/ --id a --max-attempts 1", "added 1, known 0\n", "", 0},
		{"work --until-idle", "dead         a  attempt 1 of 1  exhausted", "", 0},
		{"redrive a --by me", "redriven 1\n", "", 0},
		{"list", "a   pending  1 of 4", "", 0},
		{"show a --format json", `"by": "me"`, "", 0},
		{"show a", "redriven ", "", 0},
		{"list --after b", "", "caller: --after: job b: no such job: give the last id of the page before\n", 1},
		{"stats --format json", `"pending":1,`, "", 0},
		{"purge --older-than 1h", "purged 0\n", "", 0},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"queue", "--store", server.URL}, strings.Fields(c.args)...)
		code := cli.Run(context.Background(), newRoot, args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.err) {
			t.Errorf("queue %s: exit code %d, stdout %q, stderr %q; want %d, %q, %q", c.args, code, out.String(), errs.String(), c.code, c.out, c.err)
		}
	}
}
