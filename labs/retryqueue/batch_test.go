package retryqueue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
)

// A job that is done keeps neither its lease nor others waiting while a slower
// one of its batch is still being sent: another worker on the same store does not
// get it again.
func TestABatchDoesNotWaitForItsSlowest(t *testing.T) {
	t.Parallel()
	for _, renew := range []bool{true, false} {
		t.Run(fmt.Sprint("renew ", renew), func(t *testing.T) {
			t.Parallel()
			lease, slow := 10*time.Second, time.Second
			if renew {
				lease, slow = 6*time.Second, 7*time.Second
			}
			b := newBench(t, func(cfg *retryqueue.Config) {
				realClock(cfg)
				cfg.Renew, cfg.Lease = renew, lease
			})
			var mu sync.Mutex
			sends := map[string]int{}
			slowEnded := false
			late := map[string]bool{} // done only after the slow one
			b.send = func(ctx context.Context, job retryqueue.Job) error {
				mu.Lock()
				sends[job.ID]++
				mu.Unlock()
				if job.ID != "slow" {
					return nil
				}
				select {
				case <-time.After(slow):
				case <-ctx.Done():
				}
				mu.Lock()
				slowEnded = true
				mu.Unlock()
				return ctx.Err()
			}
			b.add("slow", soon(time.Minute), 3)
			for i := range 5 { // one attempt each: taken over, it would end as exhausted
				b.add(fmt.Sprint("fast-", i), soon(time.Minute), 1)
			}
			ctx, stop := context.WithTimeout(t.Context(), 10*slack)
			defer stop()
			var wg sync.WaitGroup
			wg.Go(func() { // the other worker, and who looks
				for ctx.Err() == nil {
					mu.Lock()
					over := slowEnded
					mu.Unlock()
					for i := range 5 {
						id := fmt.Sprint("fast-", i)
						if j := b.get(id); over && !j.State.Final() {
							mu.Lock()
							late[id] = true
							mu.Unlock()
						}
					}
					if over {
						return
					}
					if r, err := b.queue.RunOnce(ctx); err != nil {
						t.Errorf("the other worker: %v, %v", r.Outcome, err)
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
			})
			if err := b.queue.Work(ctx, retryqueue.WorkConfig{Batch: 8, UntilIdle: true}); err != nil {
				t.Error(err)
			}
			wg.Wait()
			if s, err := b.queue.Stats(t.Context()); s.Done != 6 || s.LeasesLost != 0 || err != nil {
				t.Errorf("got %+v, %v, want 6 done and no lease lost", s, err)
			}
			for id, n := range sends {
				if n != 1 {
					t.Errorf("%s was sent %d times", id, n)
				}
			}
			if len(late) > 0 {
				t.Errorf("only done after the slow one: %v", late)
			}
		})
	}
}

// A worker with a slow job goes on with others in the room that is left.
func TestABatchIsRefilled(t *testing.T) {
	t.Parallel()
	b := newBench(t, realClock)
	var done atomic.Int64
	b.send = func(ctx context.Context, job retryqueue.Job) error {
		if job.ID == "slow" {
			for done.Load() < 20 && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			return ctx.Err()
		}
		done.Add(1)
		return nil
	}
	b.add("slow", soon(time.Minute), 1)
	for i := range 20 {
		b.add(fmt.Sprint("fast-", i), soon(time.Minute), 1)
	}
	if err := b.queue.Work(t.Context(), retryqueue.WorkConfig{Batch: 3, UntilIdle: true, Poll: 10 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	if s, err := b.queue.Stats(t.Context()); s.Done != 21 || err != nil {
		t.Errorf("got %+v, %v, want 21 done", s, err)
	}
}

// hanging is a store that no longer renews; it does not even look at ctx.
type hanging struct {
	retryqueue.Store
	release chan struct{}
}

func (h *hanging) Renew(context.Context, string, int, retryqueue.Millis) (retryqueue.Millis, error) {
	<-h.release
	return 0, errors.New("hung")
}

// A send ends the margin before its lease, whatever becomes of the renewing.
func TestASendEndsWithItsLeaseIfRenewHangs(t *testing.T) {
	t.Parallel()
	const lease = 900 * time.Millisecond
	release := make(chan struct{})
	b := newBench(t, func(cfg *retryqueue.Config) {
		realClock(cfg)
		cfg.Renew, cfg.Lease = true, lease
		cfg.Store = &hanging{cfg.Store, release}
	})
	b.send = func(ctx context.Context, job retryqueue.Job) error {
		defer close(release)
		select {
		case <-ctx.Done():
		case <-time.After(10 * slack):
			t.Error("the send was not cut off")
		}
		cut, until := time.Now(), job.LeaseUntil.Time()
		if cut.Before(until.Add(-lease/10-50*time.Millisecond)) || cut.After(until.Add(slack)) {
			t.Errorf("it was cut off at %v, want a tenth of %v before the end of its lease at %v", cut, lease, until)
		}
		if cause := context.Cause(ctx); !errors.Is(cause, retryqueue.ErrLeaseLost) {
			t.Errorf("the cause: got %v, want %v", cause, retryqueue.ErrLeaseLost)
		}
		return ctx.Err()
	}
	b.add("a", soon(time.Minute), 3)
	if r, err := b.queue.RunOnce(t.Context()); r.Outcome != retryqueue.Lost || !errors.Is(err, retryqueue.ErrLeaseLost) {
		t.Errorf("got %v, %v, want it lost", r.Outcome, err)
	}
}

// broken is a store that fails with err.
type broken struct {
	retryqueue.Store
	err   error
	takes atomic.Int64
}

func (s *broken) Take(context.Context, retryqueue.Take) (retryqueue.Taken, error) {
	s.takes.Add(1)
	return retryqueue.Taken{}, s.err
}

// What trying again cannot mend ends Work with one line, whatever the number of
// workers; what it can does not.
func TestWorkEndsIfTheStoreIsBeyondHope(t *testing.T) {
	t.Parallel()
	for _, err := range []error{retryqueue.ErrGone, retryqueue.ErrDamaged, retryqueue.ErrReadOnly, retryqueue.ErrNoStore} {
		for _, untilIdle := range []bool{true, false} {
			b := newBench(t, func(cfg *retryqueue.Config) {
				cfg.Store = &broken{Store: cfg.Store, err: fmt.Errorf("store x: %w", err)}
			})
			start := time.Now()
			got := b.queue.Work(t.Context(), retryqueue.WorkConfig{Workers: 3, UntilIdle: untilIdle, Poll: time.Minute})
			if took := time.Since(start); !errors.Is(got, err) || strings.Contains(got.Error(), "\n") || took > slack {
				t.Errorf("until idle %v: got %q after %v, want one line with %q at once", untilIdle, got, took, err)
			}
		}
	}
	var store *broken
	b := newBench(t, func(cfg *retryqueue.Config) {
		store = &broken{Store: cfg.Store, err: retryqueue.ErrBusy}
		cfg.Store = store
	})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for store.takes.Load() < 3 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if err := b.queue.Work(ctx, retryqueue.WorkConfig{UntilIdle: true, Poll: time.Millisecond}); err != nil {
		t.Errorf("a busy store: got %v, want it asked again until the stop", err)
	}
}

// A store that goes on failing, as one on a full disk does, ends a worker that
// would end anyway, with one line; another goes on.
func TestWorkEndsIfTheStoreGoesOnFailing(t *testing.T) {
	t.Parallel()
	const patience = 100 * time.Millisecond
	for _, untilIdle := range []bool{true, false} {
		var told atomic.Int64
		b := newBench(t, func(cfg *retryqueue.Config) {
			cfg.Store = &broken{Store: cfg.Store, err: fmt.Errorf("store x: %w", retryqueue.ErrFull)}
			cfg.Observe = func(r retryqueue.Report) {
				if r.Outcome == retryqueue.Failed && errors.Is(r.Err, retryqueue.ErrFull) {
					told.Add(1)
				}
			}
		})
		start := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), 5*patience)
		if untilIdle {
			ctx = t.Context()
		}
		err := b.queue.Work(ctx, retryqueue.WorkConfig{Workers: 3, UntilIdle: untilIdle, Poll: time.Millisecond, Patience: patience})
		took := time.Since(start)
		stop()
		switch {
		case untilIdle && (!errors.Is(err, retryqueue.ErrFull) || strings.Contains(err.Error(), "\n") || told.Load() < 3 || took < patience || took > patience+slack):
			t.Errorf("until idle: got %q after %v and %d tries, want one line with %q after %v and 3 tries at least", err, took, told.Load(), retryqueue.ErrFull, patience)
		case !untilIdle && (err != nil || took < 5*patience):
			t.Errorf("until stopped: got %v after %v, want it to go on until the stop", err, took)
		}
	}
}

// The error of an attempt that is neither worth a retry nor permanent can be read
// afterwards, while the job is leased and when it is dead.
func TestAnUnclassifiedErrorIsKept(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{0, 1, 2} { // 0: RunOnce
		b := newBench(t, nil)
		odd := errors.New("status 500: \xff\x00 " + strings.Repeat("ä", 600))
		b.send = func(context.Context, retryqueue.Job) error { return odd }
		b.add("a", start+60_000, 1)
		if batch == 0 {
			if r, err := b.queue.RunOnce(t.Context()); r.Outcome != retryqueue.Unclassified || err != odd {
				t.Errorf("RunOnce: got %v, %v, want the error as it is", r.Outcome, err)
			}
		} else if err := b.queue.Work(t.Context(), retryqueue.WorkConfig{Batch: batch, UntilIdle: true}); err != nil {
			t.Error(err)
		}
		j := b.get("a")
		if got := brief(j); got != "leased none 1/1 avail=0 dead=60000" || !strings.HasPrefix(j.LastError, "status 500: ?? ä") || len(j.LastError) > 500 {
			t.Errorf("batch %d: got %s with error %q", batch, got, j.LastError)
		}
		b.now.Add(10_000) // the lease runs out
		if _, err := b.queue.RunOnce(t.Context()); err != nil {
			t.Error(err)
		}
		if j := b.get("a"); j.Reason != retryqueue.ReasonExhausted || !strings.Contains(j.LastError, "the lease ran out; the last error: status 500") {
			t.Errorf("batch %d: got %s with error %q", batch, brief(j), j.LastError)
		}
	}
}
