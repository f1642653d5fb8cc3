package retryqueue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errStopped is the cause with which Work cuts off the sends that its grace did
// not suffice for.
var errStopped = errors.New("the worker was stopped")

// try makes the attempt at a job that was claimed at claimed. It returns what to
// write down, nil if nothing is, and the report, in which Job is as it will be
// after that.
func (q *Queue) try(ctx context.Context, job Job, claimed Millis) (*Settlement, Report) {
	r := Report{Job: job, claimed: job}
	before := q.cfg.Clock()
	if before < claimed {
		return nil, backwards(r, claimed, before)
	}
	start := time.Now()
	if job.LeaseUntil <= before {
		r, _ = lost(r) // claiming took longer than the lease
		return nil, r
	}
	sctx, stop := q.sendContext(ctx, job, before)
	err := q.cfg.Send(sctx, job)
	leaseLost := errors.Is(context.Cause(sctx), ErrLeaseLost)
	stop()
	r.Took = time.Since(start)
	after := q.cfg.Clock()

	r.Err = err
	v, wait := judge(err)
	if v == unclassified && errors.Is(context.Cause(ctx), errStopped) {
		v = retryable // given back, without a wait; the attempt stays spent
		return q.written(r, settle(job, v, max(before, after), 0, errStopped.Error()))
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case after < before && (v == succeeded || v == permanent):
		s, r := q.written(r, settle(job, v, before, 0, text))
		out := r.Outcome
		r = backwards(r, before, after)
		r.Outcome = out
		return s, r
	case after < before:
		r = backwards(r, before, after)
		r.Err = errors.Join(r.Err, err)
		return noted(r, text)
	case v == unclassified && leaseLost:
		r, _ = lost(r)
		return nil, r
	case v == unclassified:
		r.Outcome = Unclassified
		return noted(r, text)
	}
	delay := int64(0)
	if v == retryable {
		var derr error
		if delay, derr = q.cfg.Backoff.delay(job.ID, job.Attempts, wait); derr != nil {
			r.Outcome, r.Err = Failed, derr // a Jitter that is out of range
			return nil, r
		}
	}
	return q.written(r, settle(job, v, after, delay, text))
}

func (q *Queue) written(r Report, s Settlement) (*Settlement, Report) {
	r.Job = s.apply(r.Job)
	switch s.State {
	case Done:
		r.Outcome = Succeeded
	case Dead:
		r.Outcome = GivenUp
	default:
		r.Outcome = PutBack
	}
	return &s, r
}

// noted leaves the job leased and has its error written down.
func noted(r Report, text string) (*Settlement, Report) {
	s := Settlement{ID: r.Job.ID, Attempt: r.Job.Attempts, State: Leased, Error: cut(text)}
	r.Job = s.apply(r.Job)
	return &s, r
}

func backwards(r Report, from, to Millis) Report {
	r.Outcome = Failed
	r.Err = fmt.Errorf("job %s, attempt %d: %w by %v while it was sent", r.Job.ID, r.Job.Attempts, ErrClockBackwards, from.Sub(to))
	return r
}

// margin is how long before the end of its lease the attempt is cut off.
func (q *Queue) margin(lease time.Duration) time.Duration {
	return min(q.cfg.Margin, lease/4)
}

// sendContext returns the context of the attempt, which ends the margin before
// the lease, and a function that ends it and waits for what belongs to it.
func (q *Queue) sendContext(ctx context.Context, job Job, now Millis) (context.Context, func()) {
	left := job.LeaseUntil.Sub(now)
	left -= q.margin(left)
	if !q.cfg.Renew {
		sctx, cancel := context.WithTimeout(ctx, left)
		return sctx, cancel
	}
	// Renewed, only the deadline bounds it. A timer of its own cuts it off before
	// the lease ends, whatever becomes of the renewing.
	whole := job.Deadline.Sub(now)
	whole -= q.margin(whole)
	sctx, stopTimer := context.WithTimeout(ctx, whole)
	sctx, cancel := context.WithCancelCause(sctx)
	end := time.AfterFunc(left, func() { cancel(fmt.Errorf("it could not be renewed: %w", ErrLeaseLost)) })
	var wg sync.WaitGroup
	wg.Go(func() { q.renew(sctx, cancel, job, left, end) })
	return sctx, func() {
		end.Stop()
		cancel(context.Canceled)
		wg.Wait()
		stopTimer()
	}
}

// renew keeps the lease of job until ctx ends, and cuts the attempt off when the
// lease is lost. left is what is left of it now; timer is set anew each time.
func (q *Queue) renew(ctx context.Context, cut context.CancelCauseFunc, job Job, left time.Duration, timer *time.Timer) {
	end := time.Now().Add(left)
	for {
		wait(ctx, min(q.cfg.Lease/3, time.Until(end)))
		if ctx.Err() != nil {
			return
		}
		start, now := time.Now(), q.cfg.Clock()
		rctx, cancel := context.WithDeadline(ctx, end)
		until, err := q.cfg.Store.Renew(rctx, job.ID, job.Attempts, now.Add(q.cfg.Lease))
		cancel()
		switch {
		case errors.Is(err, ErrLeaseLost):
			cut(err)
			return
		case err == nil && until >= job.Deadline:
			timer.Stop()
			return // nothing more to gain: the deadline bounds it
		case err == nil:
			got := until.Sub(now)
			end = start.Add(got - q.margin(got))
			timer.Reset(time.Until(end))
		}
	}
}
