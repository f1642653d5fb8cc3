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
	// Batch is how many jobs a worker has at once. It sends them at the same time,
	// writes down together what ends together, and takes new ones in the same
	// step: the slowest holds nothing up. Zero: 1.
	Batch int
	// Poll is how long a worker waits at most when nothing is due. Zero: 500 ms.
	Poll time.Duration
	// Grace is how long sends may go on once ctx is cancelled; those that take
	// longer are cut off and their jobs given back. Zero: 10 s.
	Grace time.Duration
	// UntilIdle ends each worker when nothing is due and it sends nothing any
	// more, instead of waiting.
	UntilIdle bool
	// Patience is for how long, with UntilIdle, the store may fail a worker, three
	// times at least, before that ends with the store's error. Without UntilIdle it
	// goes on until it is stopped. Zero: 5 s.
	Patience time.Duration
}

// The defaults and bounds of WorkConfig.
const (
	DefaultPoll     = 500 * time.Millisecond
	DefaultGrace    = 10 * time.Second
	DefaultPatience = 5 * time.Second
	MaxWorkers      = 1024
	MaxBatch        = 256
)

// Work runs workers until ctx is cancelled and returns when all have ended: each
// finishes what it is sending, or gives the job back (never the attempt) if that
// takes longer than Grace; what the store has to write down then may take some
// seconds more. A step that failed is reported to Config.Observe and the worker
// goes on; outcomes that could not be written down are tried again. An error of
// the store that is Hopeless stops all workers, and with UntilIdle so does one
// that lasts (see Patience). The error is that one, and says what could not be
// written down before the end.
func (q *Queue) Work(ctx context.Context, cfg WorkConfig) error {
	if err := cfg.check(); err != nil {
		return err
	}
	if q.cfg.Send == nil {
		return errors.New("retryqueue: Send: missing")
	}
	ctx, stopAll := context.WithCancel(ctx)
	defer stopAll()
	sctx, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(cfg.Grace, func() { cut(errStopped) })
		context.AfterFunc(sctx, func() { t.Stop() })
	})
	defer stop()

	workers := make([]*worker, cfg.Workers)
	var wg sync.WaitGroup
	for i := range workers {
		w := &worker{q: q, cfg: cfg, send: sctx, ended: make(chan sent, cfg.Batch)}
		workers[i] = w
		wg.Go(func() {
			if w.run(ctx); w.gaveUp || Hopeless(errors.Join(w.errs...)) {
				stopAll()
			}
		})
	}
	wg.Wait()
	return inAll(workers)
}

// inAll is one error for what the workers ended with: each kind of trouble once.
func inAll(workers []*worker) error {
	var errs []error
	seen, unwritten := map[string]bool{}, 0
	for _, w := range workers {
		unwritten += len(w.settle)
		for _, err := range w.errs {
			if !seen[err.Error()] {
				seen[err.Error()] = true
				errs = append(errs, err)
			}
		}
	}
	err := errors.Join(errs...)
	if unwritten > 0 {
		err = fmt.Errorf("outcomes that could not be written down: %d; their leases will end: %w", unwritten, err)
	}
	return err
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
	if c.Patience == 0 {
		c.Patience = DefaultPatience
	}
	if c.Poll < 0 || c.Grace < 0 || c.Patience < 0 {
		return fmt.Errorf("retryqueue: Poll, Grace, Patience: %v, %v, %v: not below 0", c.Poll, c.Grace, c.Patience)
	}
	return nil
}
