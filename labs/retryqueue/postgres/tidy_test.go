package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
)

// What many claims leave behind in an index is not left to the first Stats after
// them. Not parallel: an open transaction of another test would keep all that is
// dead alive.
func TestDeadEntriesAreNotPassedAgain(t *testing.T) {
	ctx, schema := t.Context(), newSchema()
	s, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Create: true, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	exec(t, "ALTER TABLE "+schema+".jobs SET (autovacuum_enabled = off)")
	const jobs = 4096
	for i := 0; i < jobs; i += 256 {
		var list []retryqueue.NewJob
		for k := range 256 {
			list = append(list, retryqueue.NewJob{ID: fmt.Sprintf("job-%06d", i+k), Deadline: 1_000_000, MaxAttempts: 1})
		}
		if _, err := s.Add(ctx, retryqueue.Millis(10+i), list); err != nil {
			t.Fatal(err)
		}
	}
	take := func(now retryqueue.Millis, settle []retryqueue.Settlement) (next []retryqueue.Settlement) {
		t.Helper()
		taken, err := s.Take(ctx, retryqueue.Take{Now: now, Settle: settle, Claim: 64, LeaseUntil: 500_000})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range taken.Jobs {
			next = append(next, retryqueue.Settlement{ID: j.ID, Attempt: 1, State: retryqueue.Done, At: now})
		}
		return next
	}
	var settle []retryqueue.Settlement
	for range jobs/64 - 1 {
		settle = take(10_000, settle)
	}
	// How many pages the search comes past, of the index and of the table.
	blocks := func() int {
		t.Helper()
		conn, err := pgx.Connect(ctx, shared.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		var text []struct {
			Plan map[string]any
		}
		if _, err := conn.Exec(ctx, "SET search_path = "+schema+"; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off"); err != nil {
			t.Fatal(err)
		}
		row := conn.QueryRow(ctx, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT enqueued_at FROM jobs WHERE finished_at IS NULL AND state = 0 ORDER BY enqueued_at LIMIT 1")
		if err := row.Scan(&text); err != nil {
			t.Fatal(err)
		}
		return int(text[0].Plan["Shared Hit Blocks"].(float64) + text[0].Plan["Shared Read Blocks"].(float64))
	}
	// 142, if nobody has looked before.
	if got := blocks(); got < 1 || got > 80 {
		t.Errorf("the first to look for the oldest job came past %d blocks after %d claims, want 1 to 80", got, jobs)
	}
}
