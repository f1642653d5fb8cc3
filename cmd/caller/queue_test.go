package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"chaoslab/cmd/internal/cli"
	"chaoslab/internal/pgtest"
	"chaoslab/internal/skip"
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

// The same commands work on PostgreSQL.
func TestQueueOnPostgres(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context())
	if errors.Is(err, pgtest.ErrMissing) {
		skip.Missing(t, err)
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
