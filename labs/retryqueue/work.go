package retryqueue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// WorkConfig sets up Work. Every zero field has the default named beside it.
type WorkConfig struct {
	Workers int // jobs, or batches, at the same time; zero: 1
	// Batch is how many jobs a worker takes at once. It sends them at the same
	// time and writes their outcomes down together, which costs less but waits
	// for the slowest. Zero: 1.
	Batch int
	// Poll is how long a worker waits at most when nothing is due. Zero: 500 ms.
	Poll time.Duration
	// Grace is how long sends may go on once ctx is cancelled; those that take
	// longer are cut off and their jobs given back. Zero: 10 s.
	Grace time.Duration
	// UntilIdle ends each worker when nothing is due, instead of waiting.
	UntilIdle bool
}

// The defaults and bounds of WorkConfig.
const (
	DefaultPoll  = 500 * time.Millisecond
	DefaultGrace = 10 * time.Second
	MaxWorkers   = 1024
	MaxBatch     = 256
)

// Work runs workers until ctx is cancelled and returns when all have ended: each
// finishes what it is sending, or gives the job back (never the attempt) if that
// takes longer than Grace. A step that failed is reported to Config.Observe and
// the worker goes on; outcomes that could not be written down are tried again.
// The error says what could not be written down before the end.
func (q *Queue) Work(ctx context.Context, cfg WorkConfig) error {
	if err := cfg.check(); err != nil {
		return err
	}
	if q.cfg.Send == nil {
		return errors.New("retryqueue: Send: missing")
	}
	sctx, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(cfg.Grace, func() { cut(errStopped) })
		context.AfterFunc(sctx, func() { t.Stop() })
	})
	defer stop()

	errs := make([]error, cfg.Workers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			w := worker{q: q, cfg: cfg, send: sctx}
			errs[i] = w.run(ctx)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *WorkConfig) check() error {
	for _, f := range []struct {
		name       string
		value      *int
		zero, most int
	}{{"Workers", &c.Workers, 1, MaxWorkers}, {"Batch", &c.Batch, 1, MaxBatch}} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < 1 || *f.value > f.most {
			return fmt.Errorf("retryqueue: %s: %d is out of range: from 1 to %d", f.name, *f.value, f.most)
		}
	}
	if c.Poll == 0 {
		c.Poll = DefaultPoll
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.Poll < 0 || c.Grace < 0 {
		return fmt.Errorf("retryqueue: Poll, Grace: %v, %v: not below 0", c.Poll, c.Grace)
	}
	return nil
}

// worker is one loop of Work.
type worker struct {
	q    *Queue
	cfg  WorkConfig
	send context.Context // of the sends: it outlives the stop by the grace

	settle  []Settlement // not yet written down
	reports []Report     // of those, in the same order
}

func (w *worker) run(ctx context.Context) error {
	for ctx.Err() == nil {
		taken, now, err := w.q.take(ctx, w.settle, w.cfg.Batch)
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			w.q.cfg.Observe(Report{Outcome: Failed, Err: err})
			wait(ctx, w.cfg.Poll)
			continue
		}
		w.written(taken)
		switch {
		case len(taken.Jobs) > 0:
			w.try(taken.Jobs, now)
		case taken.More:
		case w.cfg.UntilIdle:
			return nil
		default:
			pause := w.cfg.Poll
			if taken.Next > 0 {
				pause = min(pause, max(time.Millisecond, taken.Next.Sub(now)))
			}
			wait(ctx, pause)
		}
	}
	if len(w.settle) == 0 {
		return nil
	}
	fctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWait)
	defer cancel()
	taken, err := w.q.cfg.Store.Take(fctx, Take{Now: w.q.cfg.Clock(), Settle: w.settle})
	if err != nil {
		return fmt.Errorf("%d outcomes could not be written down, their leases will end: %w", len(w.settle), err)
	}
	w.written(taken)
	return nil
}

// written reports what a Take has just written down.
func (w *worker) written(taken Taken) {
	for _, i := range taken.Lost {
		w.reports[i], _ = lost(w.reports[i])
	}
	for _, r := range w.reports {
		w.q.cfg.Observe(r)
	}
	if len(taken.Ended) > 0 {
		w.q.cfg.Observe(Report{Outcome: Idle, Ended: taken.Ended})
	}
	w.settle, w.reports = nil, nil
}

// try makes the attempts of one batch at the same time.
func (w *worker) try(jobs []Job, now Millis) {
	if len(jobs) == 1 {
		w.note(w.q.try(w.send, jobs[0], now))
		return
	}
	settles, reports := make([]*Settlement, len(jobs)), make([]Report, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() { settles[i], reports[i] = w.q.try(w.send, job, now) })
	}
	wg.Wait()
	for i := range jobs {
		w.note(settles[i], reports[i])
	}
}

func (w *worker) note(s *Settlement, r Report) {
	if s == nil {
		w.q.cfg.Observe(r)
		return
	}
	w.settle, w.reports = append(w.settle, *s), append(w.reports, r)
}

// wait waits for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
