package retryqueue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
)

// slack is what a loaded machine may add to any time here.
const slack = 3 * time.Second

func realClock(cfg *retryqueue.Config) {
	cfg.Clock = nil
}

func soon(d time.Duration) retryqueue.Millis { return retryqueue.MillisOf(time.Now().Add(d)) }

func TestWorkDoesEverything(t *testing.T) {
	t.Parallel()
	for _, c := range []retryqueue.WorkConfig{{}, {Workers: 4}, {Workers: 2, Batch: 8}} {
		t.Run(fmt.Sprintf("%d workers, batch %d", c.Workers, c.Batch), func(t *testing.T) {
			t.Parallel()
			var done, ended atomic.Int64
			b := newBench(t, func(cfg *retryqueue.Config) {
				realClock(cfg)
				cfg.Backoff.Base = time.Millisecond
				cfg.Observe = func(r retryqueue.Report) {
					ended.Add(int64(len(r.Ended)))
					if r.Outcome == retryqueue.Succeeded {
						done.Add(1)
					}
				}
			})
			b.send = func(_ context.Context, job retryqueue.Job) error {
				if job.Attempts == 1 {
					return retryqueue.Retry(errDown, 0)
				}
				return nil
			}
			for i := range 40 {
				b.add(fmt.Sprint("job-", i), soon(time.Minute), 3)
			}
			ctx, stop := context.WithTimeout(t.Context(), 10*slack)
			defer stop()
			var wg sync.WaitGroup
			wg.Go(func() {
				for ctx.Err() == nil && done.Load() < 40 {
					time.Sleep(time.Millisecond)
				}
				stop()
			})
			if err := b.queue.Work(ctx, c); err != nil {
				t.Error(err)
			}
			wg.Wait()
			if s, err := b.queue.Stats(t.Context()); s.Done != 40 || s.Attempts != 80 || err != nil {
				t.Errorf("got %+v, %v, want 40 done in 80 attempts", s, err)
			}
		})
	}
}

// A stop lets a send finish, within the grace; the job is done.
func TestStopFinishesTheSend(t *testing.T) {
	t.Parallel()
	b := newBench(t, realClock)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	b.send = func(ctx context.Context, _ retryqueue.Job) error {
		stop()
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	b.add("a", soon(time.Minute), 3)
	b.add("b", soon(time.Minute), 3)
	if err := b.queue.Work(ctx, retryqueue.WorkConfig{}); err != nil {
		t.Error(err)
	}
	if s, err := b.queue.Stats(t.Context()); s.Done != 1 || s.Pending != 1 || err != nil {
		t.Errorf("got %+v, %v, want one done and the other untouched", s, err)
	}
}

// A send that takes longer than the grace is cut off and the job given back, but
// never the attempt.
func TestStopGivesTheJobBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempts int
		want     string
	}{{2, "pending none 1/2"}, {1, "dead exhausted 1/1"}} {
		b := newBench(t, realClock)
		ctx, stop := context.WithCancel(t.Context())
		b.send = func(ctx context.Context, _ retryqueue.Job) error {
			stop()
			<-ctx.Done()
			return ctx.Err()
		}
		b.add("a", soon(time.Minute), c.attempts)
		start := time.Now()
		if err := b.queue.Work(ctx, retryqueue.WorkConfig{Grace: 20 * time.Millisecond}); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > slack {
			t.Errorf("the stop took %v", took)
		}
		j := b.get("a")
		if got := fmt.Sprintf("%v %v %d/%d", j.State, j.Reason, j.Attempts, j.MaxAttempts); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		stop()
	}
}

// A renewed lease lasts as long as its worker sends, and no other takes the job.
func TestRenewKeepsTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *retryqueue.Config) {
		realClock(cfg)
		cfg.Renew, cfg.Lease = true, 2*time.Second
	})
	b.send = func(ctx context.Context, _ retryqueue.Job) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(4500 * time.Millisecond):
			return nil
		}
	}
	b.add("a", soon(time.Minute), 3)
	r, err := b.queue.RunOnce(t.Context())
	if j := b.get("a"); r.Outcome != retryqueue.Succeeded || err != nil || j.Attempts != 1 || j.LeasesLost != 0 {
		t.Errorf("got %v, %v, %+v, want it done in one attempt", r.Outcome, err, j)
	}
}

// A worker whose lease was lost while it renewed is told so and cut off.
func TestRenewTellsOfALostLease(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *retryqueue.Config) {
		realClock(cfg)
		cfg.Renew, cfg.Lease = true, 600*time.Millisecond
	})
	b.send = func(ctx context.Context, job retryqueue.Job) error {
		// Another worker, whose clock is far ahead.
		ahead := soon(20 * time.Second)
		if taken, err := b.store.Take(context.Background(), retryqueue.Take{Now: ahead, Claim: 1, LeaseUntil: ahead + 1000}); err != nil || len(taken.Jobs) != 1 {
			t.Errorf("the other worker: %+v, %v", taken, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * slack):
			return errors.New("not cut off")
		}
	}
	b.add("a", soon(time.Minute), 3)
	r, err := b.queue.RunOnce(t.Context())
	if r.Outcome != retryqueue.Lost || !errors.Is(err, retryqueue.ErrLeaseLost) {
		t.Errorf("got %v, %v, want the lease lost", r.Outcome, err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, c := range []struct {
		name string
		cfg  retryqueue.Config
	}{
		{"no store", retryqueue.Config{}},
		{"negative lease", retryqueue.Config{Store: b.store, Lease: -time.Second}},
		{"lease of a fraction", retryqueue.Config{Store: b.store, Lease: time.Microsecond}},
		{"lease of a year", retryqueue.Config{Store: b.store, Lease: 365 * 24 * time.Hour}},
		{"margin as long as the lease", retryqueue.Config{Store: b.store, Lease: time.Second, Margin: time.Second}},
		{"negative backoff", retryqueue.Config{Store: b.store, Backoff: retryqueue.Backoff{Base: -1}}},
	} {
		if _, err := retryqueue.New(c.cfg); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	q, err := retryqueue.New(retryqueue.Config{Store: b.store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.RunOnce(t.Context()); err == nil {
		t.Error("RunOnce without Send: no error")
	}
	if err := q.Work(t.Context(), retryqueue.WorkConfig{Workers: -1}); err == nil {
		t.Error("Work with -1 workers: no error")
	}
}

// Work tells of a lease that was lost, and changes nothing.
func TestWorkTellsOfALostLease(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 2} {
		var mu sync.Mutex
		seen := map[retryqueue.Outcome]int{}
		b := newBench(t, func(cfg *retryqueue.Config) {
			realClock(cfg)
			cfg.Observe = func(r retryqueue.Report) {
				mu.Lock()
				defer mu.Unlock()
				if seen[r.Outcome]++; r.Outcome == retryqueue.Lost && !errors.Is(r.Err, retryqueue.ErrLeaseLost) {
					t.Errorf("lost: got error %v", r.Err)
				}
			}
		})
		b.send = func(_ context.Context, job retryqueue.Job) error {
			if job.ID == "taken-over" {
				ahead := soon(20 * time.Second) // the clock of another worker
				if _, err := b.store.Take(context.Background(), retryqueue.Take{Now: ahead, Claim: 1, LeaseUntil: ahead + 1000}); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		b.add("taken-over", soon(time.Minute), 3)
		if err := b.queue.Work(t.Context(), retryqueue.WorkConfig{Batch: batch, UntilIdle: true}); err != nil {
			t.Error(err)
		}
		if j := b.get("taken-over"); seen[retryqueue.Lost] != 1 || seen[retryqueue.Succeeded] != 0 || j.State != retryqueue.Leased || j.Attempts != 2 {
			t.Errorf("batch %d: got outcomes %v and %+v, want one lost and the job with its new worker", batch, seen, j)
		}
	}
}
