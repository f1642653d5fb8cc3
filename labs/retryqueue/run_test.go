package retryqueue_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

const start retryqueue.Millis = 1_000_000

// bench is a queue on a store of its own with a clock that the test sets.
type bench struct {
	t     *testing.T
	queue *retryqueue.Queue
	store retryqueue.Store
	now   atomic.Int64
	sends atomic.Int64
	send  func(ctx context.Context, job retryqueue.Job) error
}

func newBench(t *testing.T, change func(*retryqueue.Config)) *bench {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"), sqlite.Options{Create: true, Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b := &bench{t: t, store: store}
	b.now.Store(int64(start))
	cfg := retryqueue.Config{
		Store: store,
		Send: func(ctx context.Context, job retryqueue.Job) error {
			b.sends.Add(1)
			return b.send(ctx, job)
		},
		Clock:   func() retryqueue.Millis { return retryqueue.Millis(b.now.Load()) },
		Lease:   10 * time.Second,
		Backoff: retryqueue.Backoff{Base: 100 * time.Millisecond, Cap: time.Second, Jitter: func(string, int) float64 { return 0.5 }},
	}
	if change != nil {
		change(&cfg)
	}
	if b.queue, err = retryqueue.New(cfg); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) add(id string, deadline retryqueue.Millis, attempts int) {
	b.t.Helper()
	if _, err := b.queue.Add(b.t.Context(), retryqueue.NewJob{ID: id, Payload: []byte(id), Deadline: deadline, MaxAttempts: attempts}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(id string) retryqueue.Job {
	b.t.Helper()
	j, err := b.store.Get(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return j
}

func brief(j retryqueue.Job) string {
	return fmt.Sprintf("%v %v %d/%d avail=%d dead=%d", j.State, j.Reason, j.Attempts, j.MaxAttempts, max(0, j.AvailableAt-start), j.Deadline-start)
}

var errDown = errors.New("the partner is down")

// TestRunOnce goes through what one attempt can end with. The clock moves by
// took while it is sent.
func TestRunOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		attempts int
		deadline retryqueue.Millis
		err      error
		took     int64
		outcome  retryqueue.Outcome
		want     string
	}{
		{"accepted", 3, 5000, nil, 20, retryqueue.Succeeded, "done none 1/3 avail=0 dead=5000"},
		{"worth a retry", 3, 5000, retryqueue.Retry(errDown, 0), 20, retryqueue.PutBack, "pending none 1/3 avail=70 dead=5000"},
		{"the partner named the wait", 3, 5000, retryqueue.Retry(errDown, 2*time.Second), 20, retryqueue.PutBack, "pending none 1/3 avail=2020 dead=5000"},
		{"the partner named a wait without end", 3, 5000, retryqueue.Retry(errDown, math.MaxInt64), 20, retryqueue.GivenUp, "dead deadline 1/3 avail=0 dead=5000"},
		{"the partner named a part of a millisecond more", 3, 5000, retryqueue.Retry(errDown, 2*time.Second+1), 20, retryqueue.PutBack, "pending none 1/3 avail=2021 dead=5000"},
		{"wrapped", 3, 5000, fmt.Errorf("call: %w", retryqueue.Retry(errDown, 0)), 0, retryqueue.PutBack, "pending none 1/3 avail=50 dead=5000"},
		{"the retry would come at the deadline", 3, 70, retryqueue.Retry(errDown, 0), 20, retryqueue.GivenUp, "dead deadline 1/3 avail=0 dead=70"},
		{"the retry would come 1 ms before it", 3, 71, retryqueue.Retry(errDown, 0), 20, retryqueue.PutBack, "pending none 1/3 avail=70 dead=71"},
		{"no attempt left", 1, 5000, retryqueue.Retry(errDown, 0), 20, retryqueue.GivenUp, "dead exhausted 1/1 avail=0 dead=5000"},
		{"no attempt left and no time: attempts first", 1, 70, retryqueue.Retry(errDown, 0), 20, retryqueue.GivenUp, "dead exhausted 1/1 avail=0 dead=70"},
		{"permanent", 3, 5000, retryqueue.Permanent(errDown), 20, retryqueue.GivenUp, "dead permanent 1/3 avail=0 dead=5000"},
		{"permanent with no attempt left", 1, 5000, retryqueue.Permanent(errDown), 20, retryqueue.GivenUp, "dead permanent 1/1 avail=0 dead=5000"},
		{"unclassified", 3, 5000, errDown, 20, retryqueue.Unclassified, "leased none 1/3 avail=0 dead=5000"},
		{"accepted while the clock went back", 3, 5000, nil, -20, retryqueue.Succeeded, "done none 1/3 avail=0 dead=5000"},
		{"failed while the clock went back", 3, 5000, retryqueue.Retry(errDown, 0), -20, retryqueue.Failed, "leased none 1/3 avail=0 dead=5000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.send = func(context.Context, retryqueue.Job) error { b.now.Add(c.took); return c.err }
			b.add("a", start+c.deadline, c.attempts)
			r, err := b.queue.RunOnce(t.Context())
			if r.Outcome != c.outcome {
				t.Errorf("outcome: got %v (%v), want %v", r.Outcome, err, c.outcome)
			}
			if got := brief(b.get("a")); got != c.want {
				t.Errorf("the job: got %s, want %s", got, c.want)
			}
			switch {
			case c.took < 0:
				if !errors.Is(err, retryqueue.ErrClockBackwards) {
					t.Errorf("error: got %v, want %v", err, retryqueue.ErrClockBackwards)
				}
			case c.outcome == retryqueue.Unclassified:
				if err != errDown {
					t.Errorf("error: got %v, want it as it is", err)
				}
			case err != nil:
				t.Errorf("error: got %v", err)
			}
		})
	}
}

func TestRunOnceDoesOneJobAndSaysWhenNothingIsDue(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.send = func(context.Context, retryqueue.Job) error { return nil }
	b.add("a", start+5000, 1)
	b.add("b", start+5000, 1)
	for _, want := range []retryqueue.Outcome{retryqueue.Succeeded, retryqueue.Succeeded, retryqueue.Idle} {
		if r, err := b.queue.RunOnce(t.Context()); r.Outcome != want || err != nil {
			t.Errorf("got %v, %v, want %v", r.Outcome, err, want)
		}
	}
	if n := b.sends.Load(); n != 2 {
		t.Errorf("%d sends, want 2", n)
	}
}

func TestALostLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	depth := 0
	b.send = func(context.Context, retryqueue.Job) error {
		if depth++; depth == 1 {
			b.now.Add(10_000) // the lease runs out, and another worker takes over
			if r, err := b.queue.RunOnce(t.Context()); r.Outcome != retryqueue.PutBack || err != nil {
				t.Errorf("the second worker: got %v, %v", r.Outcome, err)
			}
			return nil
		}
		return retryqueue.Retry(errDown, 0)
	}
	b.add("a", start+50_000, 5)
	r, err := b.queue.RunOnce(t.Context())
	if r.Outcome != retryqueue.Lost || !errors.Is(err, retryqueue.ErrLeaseLost) {
		t.Errorf("the first worker: got %v, %v, want it lost", r.Outcome, err)
	}
	// The report does not tell of a success that was not written down.
	if got, want := brief(r.Job), "leased none 1/5 avail=0 dead=50000"; got != want {
		t.Errorf("the report of the first worker: got %s, want %s", got, want)
	}
	if got, want := brief(b.get("a")), "pending none 2/5 avail=10100 dead=50000"; got != want {
		t.Errorf("the job: got %s, want %s", got, want)
	}
}

// A send is never given more time than the lease or the deadline leaves.
func TestSendEndsBeforeLeaseAndDeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		deadline retryqueue.Millis
		renew    bool
		most     time.Duration
	}{
		{"the lease is shorter", 60_000, false, 9 * time.Second},
		{"the deadline is shorter", 2000, false, 2 * time.Second},
		{"renewed, the deadline bounds it", 60_000, true, 60 * time.Second},
		{"renewed, the deadline is shorter", 2000, true, 2 * time.Second},
		{"hardly any time left", 2, false, 2 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(cfg *retryqueue.Config) { cfg.Renew = c.renew })
			b.send = func(ctx context.Context, _ retryqueue.Job) error {
				d, ok := ctx.Deadline()
				if left := time.Until(d); !ok || left > c.most || left < c.most*6/10-400*time.Millisecond {
					t.Errorf("time to send: %v, %v, want at most %v and not much less", left, ok, c.most)
				}
				return nil
			}
			b.add("a", start+c.deadline, 1)
			if _, err := b.queue.RunOnce(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	ok := retryqueue.NewJob{ID: "a", Deadline: start + 1000, MaxAttempts: 1}
	for _, c := range []struct {
		name   string
		change func(*retryqueue.NewJob)
		want   string
	}{
		{"empty id", func(j *retryqueue.NewJob) { j.ID = "" }, "id: empty"},
		{"long id", func(j *retryqueue.NewJob) { j.ID = strings.Repeat("x", 201) }, "id: 201 bytes"},
		{"line break in the id", func(j *retryqueue.NewJob) { j.ID = "a\nb" }, "visible ASCII"},
		{"blank in the id", func(j *retryqueue.NewJob) { j.ID = "a b" }, "visible ASCII"},
		{"id not ASCII", func(j *retryqueue.NewJob) { j.ID = "ä" }, "visible ASCII"},
		{"large payload", func(j *retryqueue.NewJob) { j.Payload = make([]byte, retryqueue.MaxPayload+1) }, "payload: 1048577 bytes"},
		{"no attempts", func(j *retryqueue.NewJob) { j.MaxAttempts = 0 }, "max_attempts: 0"},
		{"too many attempts", func(j *retryqueue.NewJob) { j.MaxAttempts = 1e9 }, "max_attempts: 1000000000"},
		{"no deadline", func(j *retryqueue.NewJob) { j.Deadline = 0 }, "deadline: 0 is no point in time"},
		{"deadline now", func(j *retryqueue.NewJob) { j.Deadline = start }, "over already"},
		{"deadline in the past", func(j *retryqueue.NewJob) { j.Deadline = start - 1 }, "over already"},
		{"deadline beyond what is exact", func(j *retryqueue.NewJob) { j.Deadline = retryqueue.MaxMillis + 1 }, "no point in time"},
		{"available at the deadline", func(j *retryqueue.NewJob) { j.AvailableAt = j.Deadline }, "could never be sent"},
		{"available before time began", func(j *retryqueue.NewJob) { j.AvailableAt = -1 }, "available_at: -1"},
	} {
		j := ok
		c.change(&j)
		_, err := b.queue.Add(t.Context(), ok, j)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Add(%+v): got %v, want one line with %q", c.name, j, err, c.want)
		}
		if s, _ := b.queue.Stats(t.Context()); s.Pending != 0 {
			t.Errorf("%s: the job before it was written all the same", c.name)
		}
	}
}

func TestRedriveRefusesWhoIsNoText(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, by := range []string{"me\x00", "\xff", "me\nyou", strings.Repeat("x", retryqueue.MaxID+1)} {
		_, err := b.queue.Redrive(t.Context(), "a", by, 1, start+1000)
		if err == nil || !strings.Contains(err.Error(), "by: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("by %q: got %v, want one line about it", by, err)
		}
	}
}
