package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// once makes one run.
func (m *series) once(ctx context.Context, t target, n int) outcome {
	call, cancel, err := budgetcaller.Begin(ctx, m.opts.budget.D)
	if err != nil {
		return outcome{err: err}
	}
	defer cancel()
	req, err := m.opts.request.to(call, t)
	if err != nil {
		return outcome{err: fmt.Errorf("%s: %w", t, err)}
	}
	r := measurement{run: n, target: t, key: m.opts.callKey(), followed: m.opts.follow}
	if r.key != "" {
		req.Header.Set(keyHeader, r.key)
	}
	if m.opts.retries.any() {
		r.result, r.ending, err = m.do(call, req)
	} else {
		r.result, err = m.runner.Run(call, req, nil)
	}
	if err != nil {
		return outcome{err: fmt.Errorf("%s: %w", t, err)}
	}
	err = m.askPartner(ctx, &r)
	return outcome{measurement: r, doubt: err}
}

// askPartner adds the partner's own record of the call and, where there may be
// several, of each of its attempts. The error says that one could not be read.
func (m *series) askPartner(ctx context.Context, r *measurement) error {
	listener, ours := belongs(r.target.url, m.listeners)
	if !ours {
		return nil
	}
	// What was measured when the user gave up is still worth its record.
	ctx = context.WithoutCancel(ctx)
	if r.ending == nil {
		var err error
		r.partner, err = m.recordOf(ctx, r.result.Last(), listener)
		return err
	}
	r.partner = &partnerView{Saw: sawNothing, Listener: listener}
	var doubt error
	for _, attempt := range r.attempts() {
		at := listener
		if attempt.URL != nil { // a redirect may lead elsewhere
			at, ours = belongs(attempt.URL, m.listeners)
		}
		if !ours {
			r.views = append(r.views, nil)
			continue
		}
		v, err := m.recordOf(ctx, attempt, at)
		r.views, r.partner = append(r.views, v), v
		doubt = errors.Join(doubt, err)
	}
	return doubt
}

// recordOf returns what the partner has of one attempt.
func (m *series) recordOf(ctx context.Context, attempt budgetcaller.Record, listener string) (*partnerView, error) {
	ctx, done := context.WithTimeout(ctx, ledgerWait)
	defer done()
	v, err := view(ctx, m.ledger, attempt)
	v.Listener = listener
	return v, err
}

// doer makes whole calls, retries and all: a *budgetcaller.Caller, or what a
// test puts there.
type doer interface {
	Do(ctx context.Context, req *http.Request) (*budgetcaller.Answer, error)
}

// ending is how a call with retries ended, which need not be how its last
// attempt did.
type ending struct {
	record budgetcaller.Record // of the call: the limit and error that ended it
	why    string              // why no further attempt was made
}

// do makes a whole call. Its error says that the request cannot be sent at all.
func (m *series) do(ctx context.Context, req *http.Request) (budgetcaller.Result, *ending, error) {
	start := time.Now()
	answer, err := m.doer.Do(ctx, req)
	elapsed := time.Since(start)
	var failed *budgetcaller.Error
	switch {
	case err == nil:
		why := answer.Why
		if why == "" {
			why = "answered"
		}
		return answer.Result, &ending{answer.Result.Last(), why}, nil
	case !errors.As(err, &failed):
		return budgetcaller.Result{}, nil, err
	}
	result := budgetcaller.Result{Attempts: failed.Attempts, Elapsed: elapsed}
	return result, &ending{recordOfCall(failed, m.opts.budget.D), whyStopped(failed)}, nil
}

// recordOfCall is the account of a call that failed as e says.
func recordOfCall(e *budgetcaller.Error, budget time.Duration) budgetcaller.Record {
	rec := budgetcaller.Record{Expected: -1}
	if e.Last != nil {
		rec = *e.Last
	}
	if rec.Class != e.Class {
		rec.Overshoot = 0 // of the attempt's limit, which is not what ended the call
	}
	rec.Class, rec.Phase, rec.Limit, rec.Effect, rec.Err = e.Class, e.Phase, e.Limit, e.Effect, e
	rec.Configured = e.Configured
	if e.Limit == budgetcaller.LimitBudget && budget != cli.None {
		rec.Configured = budget // an attempt knows only what was left of it
	}
	return rec
}

func whyStopped(e *budgetcaller.Error) string {
	switch e.Class {
	case budgetcaller.ClassBudgetExhausted:
		return "the budget is spent"
	case budgetcaller.ClassCanceled:
		return "whoever called gave up"
	case budgetcaller.ClassBelowFloor:
		if e.Why == "" {
			return "less than the floor is left"
		}
	}
	return e.Why
}
