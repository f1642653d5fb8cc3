package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
)

// crowd is a store with transactions that are held up: each waits to settle a job
// that somebody else has locked.
type crowd struct {
	t       *testing.T
	store   *postgres.Store
	schema  string
	release func()
	held    []<-chan result
}

type result struct {
	taken retryqueue.Taken
	err   error
	after time.Duration
}

// newCrowd holds up n transactions; jobs more are due.
func newCrowd(t *testing.T, n, jobs int) *crowd {
	t.Helper()
	ctx := t.Context()
	c := &crowd{t: t, schema: newSchema()}
	var err error
	if c.store, err = postgres.Open(ctx, shared.URL(t)+"&pool_max_conns=10", postgres.Options{Create: true, Schema: c.schema, BusyWait: 20 * time.Second}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	for i := range n + jobs {
		j := retryqueue.NewJob{ID: fmt.Sprint("job-", i), Deadline: 100_000, MaxAttempts: 3}
		if _, err := c.store.Add(ctx, 10, []retryqueue.NewJob{j}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		if r := c.take(ctx, retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 50_000}); r.err != nil || len(r.taken.Jobs) != 1 || r.taken.Jobs[0].ID != fmt.Sprint("job-", i) {
			t.Fatalf("got %+v, want job-%d", r, i)
		}
	}
	conn, err := pgx.Connect(ctx, shared.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(ctx, fmt.Sprintf("BEGIN; SELECT FROM %s.jobs WHERE attempts = 1 FOR UPDATE", c.schema)); err != nil {
		t.Fatal(err)
	}
	c.release = func() {
		if _, err := conn.Exec(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
	for i := range n {
		c.held = append(c.held, c.begin(ctx, retryqueue.Take{Now: 20, Settle: []retryqueue.Settlement{done(i)}}))
		c.waiting(i + 1)
	}
	return c
}

func done(i int) retryqueue.Settlement {
	return retryqueue.Settlement{ID: fmt.Sprint("job-", i), Attempt: 1, State: retryqueue.Done, At: 20}
}

func (c *crowd) take(ctx context.Context, t retryqueue.Take) result {
	start := time.Now()
	taken, err := c.store.Take(ctx, t)
	return result{taken, err, time.Since(start)}
}

func (c *crowd) begin(ctx context.Context, t retryqueue.Take) <-chan result {
	out := make(chan result, 1)
	go func() { out <- c.take(ctx, t) }()
	return out
}

// waiting waits until n transactions of the store wait for the lock.
func (c *crowd) waiting(n int) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), shared.URL(c.t))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for start := time.Now(); time.Since(start) < 15*time.Second; time.Sleep(5 * time.Millisecond) {
		var got int
		if err := conn.QueryRow(c.t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE jobs%'
  AND pid IN (SELECT pid FROM pg_locks WHERE relation = $1::regclass)`, c.schema+".jobs").Scan(&got); err != nil {
			c.t.Fatal(err)
		}
		if got >= n {
			return
		}
	}
	c.t.Fatalf("%d transactions are not held up", n)
}

// end lets the lock go and wants everything that was held up to have been done.
func (c *crowd) end() {
	c.t.Helper()
	c.release()
	for i, h := range c.held {
		if r := <-h; r.err != nil || len(r.taken.Lost) > 0 {
			c.t.Errorf("held up %d: got %+v", i, r)
		}
	}
	if err := c.store.Check(c.t.Context()); err != nil {
		c.t.Error(err)
	}
}

// A transaction that waits for a lock holds nobody up, and those who came
// meanwhile go together: each gets what it asked for, and no job twice.
func TestTakesGoTogether(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 12)
	var takes []<-chan result
	for range 8 {
		takes = append(takes, c.begin(t.Context(), retryqueue.Take{Now: 30, Claim: 1, LeaseUntil: 50_000}))
	}
	seen := map[string]bool{}
	for i, r := range takes {
		r := <-r
		if r.err != nil || len(r.taken.Jobs) != 1 || seen[r.taken.Jobs[0].ID] {
			t.Errorf("take %d: got %+v, want a job of its own", i, r)
			continue
		}
		seen[r.taken.Jobs[0].ID] = true
	}
	var together int
	conn, err := pgx.Connect(t.Context(), shared.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), "SELECT count(*) - count(DISTINCT xmin::text) FROM "+c.schema+".jobs WHERE state = 1").Scan(&together); err != nil {
		t.Fatal(err)
	}
	if together == 0 {
		t.Error("every claim was a transaction by itself")
	}
	c.end()
}

// What the server refuses is the trouble of the one who wanted it.
func TestATakeThatIsRefusedHurtsNoOther(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 4)
	bad := done(0)
	bad.Error = "a zero byte \x00" // no text in PostgreSQL
	refused := c.begin(t.Context(), retryqueue.Take{Now: 30, Settle: []retryqueue.Settlement{bad}})
	var good []<-chan result
	for range 4 {
		good = append(good, c.begin(t.Context(), retryqueue.Take{Now: 30, Claim: 1, LeaseUntil: 50_000}))
	}
	for i, r := range good {
		if r := <-r; r.err != nil || len(r.taken.Jobs) != 1 {
			t.Errorf("good %d: got %+v, want a job", i, r)
		}
	}
	if r := <-refused; r.err == nil {
		t.Errorf("the refused: got %+v, want an error", r)
	}
	c.end()
}

// Two who settle the same claim: the first word counts, the second is told that it
// came too late.
func TestTheFirstWordCounts(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 0, 1)
	if r := c.take(t.Context(), retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 50_000}); len(r.taken.Jobs) != 1 {
		t.Fatalf("got %+v", r)
	}
	again := done(0)
	again.State, again.Due = retryqueue.Pending, 40
	old := done(0)
	old.Attempt = 0
	r := c.take(t.Context(), retryqueue.Take{Now: 30, Settle: []retryqueue.Settlement{old, done(0), again}})
	if r.err != nil || fmt.Sprint(r.taken.Lost) != "[0 2]" {
		t.Errorf("got %+v, want 0 and 2 lost", r)
	}
	if j, err := c.store.Get(t.Context(), "job-0"); err != nil || j.State != retryqueue.Done {
		t.Errorf("got %+v, %v, want it done", j, err)
	}
	c.end()
}

// Each has the lease that it asked for, whoever goes with it.
func TestLeasesOfAGroup(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 8)
	var takes []<-chan result
	until := func(i int) retryqueue.Millis { return retryqueue.Millis(31_000 + i%2*1000) }
	for i := range 8 {
		takes = append(takes, c.begin(t.Context(), retryqueue.Take{Now: 30, Claim: 1, LeaseUntil: until(i)}))
	}
	for i, r := range takes {
		if r := <-r; r.err != nil || len(r.taken.Jobs) != 1 || r.taken.Jobs[0].LeaseUntil != until(i) {
			t.Errorf("take %d: got %+v, want a lease until %d", i, r, until(i))
		}
	}
	c.end()
}

// Who gives up while all transactions are held up has claimed nothing.
func TestWhoGivesUpBeforeItsTurnHasClaimedNothing(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 4, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := c.begin(ctx, retryqueue.Take{Now: 30, Claim: 1, LeaseUntil: 50_000})
	lctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	late := c.take(lctx, retryqueue.Take{Now: 30, Claim: 1, LeaseUntil: 50_000})
	if !errors.Is(late.err, retryqueue.ErrNoAnswer) || late.after < 200*time.Millisecond || late.after > 200*time.Millisecond+slack {
		t.Errorf("late: got %+v, want %v after 200ms", late, retryqueue.ErrNoAnswer)
	}
	cancel()
	if r := <-cancelled; !errors.Is(r.err, context.Canceled) {
		t.Errorf("cancelled: got %+v, want %v", r, context.Canceled)
	}
	c.end()
	if j, err := c.store.Get(t.Context(), "job-4"); err != nil || j.Attempts != 0 {
		t.Errorf("got %+v, %v, want no attempt spent", j, err)
	}
}
