package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// ours is a store of the retry queue with jobs that do nothing.
type ours struct {
	store retryqueue.Store
	next  atomic.Int64
}

func (b *bench) openSQLite(path string, normal bool) (*ours, error) {
	s, err := sqlite.Open(b.ctx, path, sqlite.Options{Create: true, Normal: normal})
	if err != nil {
		return nil, err
	}
	return &ours{store: s}, nil
}

func now() retryqueue.Millis { return retryqueue.MillisOf(time.Now()) }

// add hands in n jobs, not due before at (zero: now).
func (o *ours) add(ctx context.Context, n int, at retryqueue.Millis) error {
	const chunk = 2000
	for n > 0 {
		jobs := make([]retryqueue.NewJob, min(n, chunk))
		for i := range jobs {
			jobs[i] = retryqueue.NewJob{
				ID: fmt.Sprintf("job-%09d", o.next.Add(1)), Payload: make([]byte, 200),
				Deadline: now() + 1_000_000_000, MaxAttempts: 10, AvailableAt: at,
			}
		}
		if _, err := o.store.Add(ctx, now(), jobs); err != nil {
			return err
		}
		n -= len(jobs)
	}
	return nil
}

func (o *ours) queue(done *atomic.Int64) (*retryqueue.Queue, error) {
	return retryqueue.New(retryqueue.Config{
		Store:   o.store,
		Send:    func(context.Context, retryqueue.Job) error { return nil },
		Observe: func(r retryqueue.Report) { done.Add(int64(r.Outcome) & 1) }, // Succeeded is 1, Idle 0
	})
}

// work does n jobs with Work.
func (o *ours) work(ctx context.Context, workers, batch int) func(int) (time.Duration, error) {
	return func(n int) (time.Duration, error) {
		if err := o.add(ctx, n, 0); err != nil {
			return 0, err
		}
		var done atomic.Int64
		q, err := o.queue(&done)
		if err != nil {
			return 0, err
		}
		start := time.Now()
		err = q.Work(ctx, retryqueue.WorkConfig{Workers: workers, Batch: batch, UntilIdle: true})
		took := time.Since(start)
		if err == nil && done.Load() != int64(n) {
			err = fmt.Errorf("%d jobs done, want %d", done.Load(), n)
		}
		return took, err
	}
}

// once does n jobs with RunOnce, each in two transactions.
func (o *ours) once(ctx context.Context) func(int) (time.Duration, error) {
	return func(n int) (time.Duration, error) {
		if err := o.add(ctx, n, 0); err != nil {
			return 0, err
		}
		q, err := o.queue(new(atomic.Int64))
		if err != nil {
			return 0, err
		}
		start := time.Now()
		for range n {
			if r, err := q.RunOnce(ctx); err != nil || r.Outcome != retryqueue.Succeeded {
				return 0, fmt.Errorf("%v, %w", r.Outcome, err)
			}
		}
		return time.Since(start), nil
	}
}
