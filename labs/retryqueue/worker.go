package retryqueue

import (
	"context"
	"errors"
	"time"
)

// worker is one loop of Work.
type worker struct {
	q    *Queue
	cfg  WorkConfig
	send context.Context // of the sends: it outlives the stop by the grace

	busy  int       // sends under way
	ended chan sent // has room for all of them

	settle  []Settlement // not yet written down
	reports []Report     // of those, in the same order
	errs    []error      // what it ended with

	fails  int       // how often the store failed, one after the other
	since  time.Time // when it did so first
	gaveUp bool      // because it went on
}

// sent is a send that ended.
type sent struct {
	settle *Settlement
	report Report
}

func (w *worker) run(ctx context.Context) {
	for _, f := range []func() error{func() error { return w.loop(ctx) }, w.finish} {
		if err := f(); err != nil {
			w.errs = append(w.errs, err)
		}
	}
}

// loop works until ctx ends, nothing is due, or the store is beyond hope or
// patience.
func (w *worker) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		taken, now, err := w.q.take(ctx, w.settle, w.cfg.Batch-w.busy)
		switch {
		case err != nil && ctx.Err() != nil:
			if errors.Is(err, ErrNoAnswer) {
				return err // a claim may have been made
			}
			return nil
		case err != nil && Hopeless(err):
			return err
		case err != nil:
			w.q.cfg.Observe(Report{Outcome: Failed, Err: err})
			if w.gaveUp = w.impatient(); w.gaveUp {
				return err
			}
			// Outcomes must not wait for long: their leases go on.
			w.await(ctx, min(w.cfg.Poll, DefaultPoll))
			continue
		}
		w.fails = 0
		w.written(taken)
		w.start(taken.Jobs, now)
		switch {
		case taken.More || w.cfg.Batch == 1 && len(taken.Jobs) > 0: // done by now
		case w.cfg.UntilIdle && w.busy == 0:
			return nil
		default:
			pause := w.cfg.Poll
			if taken.Next > 0 {
				pause = min(pause, max(time.Millisecond, taken.Next.Sub(now)))
			}
			w.await(ctx, pause)
		}
	}
	return nil
}

// impatient counts a failure of the store and says whether it was one too many.
func (w *worker) impatient() bool {
	if w.fails++; w.fails == 1 {
		w.since = time.Now()
	}
	return w.cfg.UntilIdle && w.fails >= 3 && time.Since(w.since) >= w.cfg.Patience
}

// finish waits for what is still being sent and writes it down as it ends.
func (w *worker) finish() error {
	for {
		if w.busy > 0 {
			w.note(<-w.ended)
			w.collect()
		}
		var err error
		if len(w.settle) > 0 {
			err = w.flush()
		}
		if w.busy == 0 {
			return err
		}
	}
}

// flush writes down what has ended, and nothing else.
func (w *worker) flush() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.send), settleWait)
	defer cancel()
	taken, err := w.q.cfg.Store.Take(ctx, Take{Now: w.q.cfg.Clock(), Settle: w.settle})
	if err == nil {
		w.written(taken)
	}
	return err
}

// written reports what a Take has just written down.
func (w *worker) written(taken Taken) {
	for _, i := range taken.Lost {
		if w.settle[i].State != Leased { // a note changes nothing, lost or not
			w.reports[i], _ = lost(w.reports[i])
		}
	}
	for _, r := range w.reports {
		w.q.cfg.Observe(r)
	}
	if len(taken.Ended) > 0 {
		w.q.cfg.Observe(Report{Outcome: Idle, Ended: taken.Ended})
	}
	w.settle, w.reports = nil, nil
}

// start begins the attempts at jobs. A single one needs no goroutine.
func (w *worker) start(jobs []Job, now Millis) {
	if w.cfg.Batch == 1 {
		for _, job := range jobs {
			w.busy++
			s, r := w.q.try(w.send, job, now)
			w.note(sent{s, r})
		}
		return
	}
	for _, job := range jobs {
		w.busy++
		go func() {
			s, r := w.q.try(w.send, job, now)
			w.ended <- sent{s, r}
		}()
	}
}

// await waits until a send has ended, for pause at most if there is room for
// another, or until ctx ends.
func (w *worker) await(ctx context.Context, pause time.Duration) {
	var over <-chan time.Time
	if w.busy < w.cfg.Batch {
		t := time.NewTimer(pause)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
	case <-over:
	case e := <-w.ended:
		w.note(e)
		w.collect()
	}
}

// collect takes in what ends together with a send that has just ended: one
// transaction for all is much cheaper. It waits for others only for a moment, far
// below the margin that is kept for writing down.
func (w *worker) collect() {
	t := time.NewTimer(min(2*time.Millisecond, w.q.cfg.Margin/8))
	defer t.Stop()
	for w.busy > 0 {
		select {
		case e := <-w.ended:
			w.note(e)
		case <-t.C:
			return
		}
	}
}

func (w *worker) note(e sent) {
	w.busy--
	if e.settle == nil {
		w.q.cfg.Observe(e.report)
		return
	}
	w.settle, w.reports = append(w.settle, *e.settle), append(w.reports, e.report)
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
