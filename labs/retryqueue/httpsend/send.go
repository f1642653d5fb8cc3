package httpsend

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/labs/retryqueue"
)

// Sender makes attempts. It is safe for concurrent use.
type Sender struct {
	caller *budgetcaller.Caller
	table  Table
	// Observe, if set before the first Send, is told of every attempt made.
	Observe func(retryqueue.Job, budgetcaller.Record)
}

// New returns a Sender that calls with caller and judges by table.
func New(caller *budgetcaller.Caller, table Table) *Sender {
	return &Sender{caller: caller, table: table, Observe: func(retryqueue.Job, budgetcaller.Record) {}}
}

// Failure is the error of an attempt that was made.
type Failure struct{ Record budgetcaller.Record }

// Error implements error: the engine's own words, or the status that was
// answered.
func (f *Failure) Error() string {
	if f.Record.Err != nil {
		return f.Record.Err.Error()
	}
	return fmt.Sprintf("status %d", f.Record.Status)
}

// Unwrap returns the engine's error.
func (f *Failure) Unwrap() error { return f.Record.Err }

// Send makes one attempt at job, within ctx, which must have a deadline. It is
// meant for retryqueue.Config.Send.
func (s *Sender) Send(ctx context.Context, job retryqueue.Job) error {
	r, err := Decode(job.Payload)
	if err != nil {
		return retryqueue.Permanent(err)
	}
	req, err := r.build()
	if err != nil {
		return retryqueue.Permanent(err)
	}
	req.Header.Set("Idempotency-Key", job.ID)
	req.Header.Set("X-Request-Attempt", strconv.Itoa(job.Attempts))
	res, err := s.caller.Run(ctx, req, nil)
	if err != nil {
		return err
	}
	rec := res.Last()
	s.Observe(job, rec)
	failure := &Failure{rec}
	switch s.table.verdict(rec) {
	case Done:
		return nil
	case Retry:
		after, _ := backoff.ParseRetryAfter(rec.RetryAfter, time.Now())
		return retryqueue.Retry(failure, after)
	case Permanent:
		return retryqueue.Permanent(failure)
	}
	return failure
}
