package postgres_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
)

// older makes a store of version 1 with one job in each state.
func older(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/schema_1.sql")
	if err != nil {
		t.Fatal(err)
	}
	schema := newSchema()
	exec(t, "CREATE SCHEMA "+schema+"; COMMENT ON SCHEMA "+schema+" IS 'retryqueue schema 1'; SET search_path = "+schema+";"+string(text)+`
INSERT INTO jobs (id, max_attempts, due_at, deadline, enqueued_at, payload) SELECT 'job-' || i, 3, 10 + i, 1000, 10, '' FROM generate_series(0, 3) AS i;
UPDATE jobs SET state = 1, attempts = 1, due_at = 500 WHERE id > 'job-0';
UPDATE jobs SET state = 2, finished_at = 20 WHERE id = 'job-2';
UPDATE jobs SET state = 3, reason = 3, finished_at = 20 WHERE id = 'job-3'`)
	return schema
}

// A store of version 1 is read as it is, and becomes one of this version when it
// is opened for writing; its own program's connections go on.
func TestOlderStore(t *testing.T) {
	t.Parallel()
	ctx, schema := t.Context(), older(t)
	want := retryqueue.Stats{At: 30, Pending: 1, Leased: 1, Done: 1, DeadPermanent: 1, Attempts: 3, OldestAdded: 10, OldestDue: 10}
	stats := func(what string, s *postgres.Store, want retryqueue.Stats) {
		t.Helper()
		if st, err := s.Stats(ctx, 30); st != want || err != nil {
			t.Errorf("%s: got %+v, %v, want %+v", what, st, err, want)
		}
		if err := s.Check(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	looking, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Schema: schema, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer looking.Close()
	stats("looking", looking, want)
	var wg sync.WaitGroup
	for range 4 { // all at once
		wg.Go(func() {
			s, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Schema: schema})
			if err != nil {
				t.Error(err)
				return
			}
			_ = s.Close()
		})
	}
	wg.Wait()
	s, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stats("opened", s, want)
	taken, err := s.Take(ctx, retryqueue.Take{Now: 30, Claim: 1, LeaseUntil: 600, Settle: []retryqueue.Settlement{{ID: "job-1", Attempt: 1, State: retryqueue.Done, At: 30}}})
	if err != nil || len(taken.Jobs) != 1 || taken.Jobs[0].ID != "job-0" {
		t.Errorf("got %+v, %v, want job-0", taken, err)
	}
	stats("used", s, retryqueue.Stats{At: 30, Leased: 1, Done: 2, DeadPermanent: 1, Attempts: 4})
}

// The counts are those of the rows whoever writes: another program, or a person.
func TestCountsOfOtherWriters(t *testing.T) {
	t.Parallel()
	ctx, schema := t.Context(), newSchema()
	s, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Create: true, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sql := range []string{
		`INSERT INTO jobs (id, max_attempts, due_at, deadline, enqueued_at, payload) SELECT 'job-' || i, 3, 10 + i, 1000, 10, '' FROM generate_series(0, 9) AS i`,
		`UPDATE jobs SET state = 1, attempts = 1, due_at = 500 WHERE id > 'job-2'`,
		`UPDATE jobs SET state = 3, reason = 2, finished_at = 20, lost = 2 WHERE id > 'job-5'`,
		`UPDATE jobs SET state = 3, reason = 1, finished_at = 20 WHERE id = 'job-4'`,
		`DELETE FROM jobs WHERE id IN ('job-0', 'job-3', 'job-8')`,
		`TRUNCATE acts`,
	} {
		exec(t, "SET search_path = "+schema+"; "+sql)
		if err := s.Check(ctx); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	want := retryqueue.Stats{At: 30, Pending: 2, Leased: 1, DeadDeadline: 1, DeadExhausted: 3, Attempts: 5, LeasesLost: 6, OldestAdded: 10, OldestDue: 11}
	if st, err := s.Stats(ctx, 30); st != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", st, err, want)
	}
	// A check that can fail.
	exec(t, "UPDATE "+schema+".counts SET done = 1 WHERE shard = 0")
	if err := s.Check(ctx); err == nil || !strings.Contains(err.Error(), "counts") {
		t.Errorf("wrong counts: got %v", err)
	}
}
