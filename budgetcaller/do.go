package budgetcaller

import (
	"context"
	"errors"
	"net/http"
	"time"

	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/breaker"
)

// Do makes the call req under the budget in ctx (see Begin): attempts until one
// is answered, none may follow, or none fits what is left of the budget. It
// reads the whole body, at most Config.MaxBodyBytes.
//
// Its error is nil if the partner answered, whatever the status: Answer.OK
// tells. Otherwise it is an *Error, or says that req cannot be sent at all
// (ErrNoBudget, ErrClosed, a bad URL). A call that was stopped because nothing
// more fits is below_floor, with the last real failure kept beside it, also if
// that was a status.
//
// Every attempt tells the partner what is left of the time, unless
// Dependency.KeepDeadline is set, and its number (HeaderAttempt).
//
// Do always closes req.Body. A request with a body can only be repeated if it
// has GetBody, as those of http.NewRequest have.
func (c *Caller) Do(ctx context.Context, req *http.Request) (*Answer, error) {
	return c.do(ctx, req, c.redirects)
}

// do is Do with the number of redirects that are followed.
func (c *Caller) do(ctx context.Context, req *http.Request, redirects int) (*Answer, error) {
	var k call
	if err := k.begin(ctx, c, req); err != nil {
		closeBody(req)
		return nil, err
	}
	k.try.redirects = redirects
	for {
		if err := k.attempt(); err != nil {
			return nil, err
		}
		again, err := k.again()
		if err != nil {
			return nil, err
		}
		if !again {
			last := k.last()
			k.result.Elapsed = last.Start.Add(last.Elapsed).Sub(k.start)
			return k.answer, nil
		}
	}
}

// call is a call of Do while it is under way.
type call struct {
	caller *Caller
	dep    *dependency
	ctx    context.Context
	req    *http.Request
	start  time.Time

	tries  int // made so far; a redirect that is followed belongs to its try
	try    try
	chance backoff.Chance

	// What the call leaves behind.
	answer *Answer
	result *Result // of answer
}

func (k *call) begin(ctx context.Context, c *Caller, req *http.Request) error {
	if req.URL == nil {
		return errors.New("request has no URL")
	}
	dep, err := c.dependencyOf(ctx, req.URL)
	if err != nil {
		return err
	}
	k.caller, k.dep, k.ctx, k.req, k.start = c, dep, ctx, req, time.Now()
	k.chance = backoff.NewChance(c.seed, c.calls.Add(1))
	left := new(kept)
	k.answer, k.result = &left.answer, &left.answer.Result
	k.result.Attempts = left.first[:0]
	return nil
}

// last is the account of the last attempt, nil if none was made.
func (k *call) last() *Record {
	if n := len(k.result.Attempts); n > 0 {
		return &k.result.Attempts[n-1]
	}
	return nil
}

// attempt makes the next attempt, or returns the error with which the call ends
// without it.
func (k *call) attempt() error {
	now := k.start
	if k.tries > 0 {
		now = time.Now()
	}
	until, err := deadlineOf(k.ctx)
	if err != nil {
		closeBody(k.req)
		return err
	}
	left, bounded := max(0, until.Sub(now)), !until.IsZero()
	if err := k.mayStart(left, bounded); err != nil {
		closeBody(k.req)
		return err
	}
	permit, change, err := k.dep.breaker.Admit(now)
	defer permit.Release() // frees its place also if the user's code panics
	k.changed(change)
	if err != nil {
		closeBody(k.req)
		return k.skip(&Error{Class: ClassBreakerOpen, Err: err})
	}
	if k.tries == 0 {
		k.dep.throttle.Call(now)
	}
	made := len(k.result.Attempts)
	k.prepare()
	if change == nil || k.caller.hooks.Breaker == nil { // a hook may take its time
		k.try.start, k.try.deadline = now, until
	}
	err = k.caller.follow(k.ctx, &k.try, nil, k.result)
	last := k.unmade(made)
	if err == nil && last == nil {
		k.req = k.try.req // where redirects led: only the last hop may be repeated
	}
	if n := len(k.result.Attempts); n > made {
		k.tellAttempts(made)
		// A redirect is an answer of this partner; what its target does is not.
		first := &k.result.Attempts[made]
		ended := first.Start.Add(first.Elapsed)
		k.changed(permit.Record(ended, judge(first, bounded && left < k.dep.Expected)))
	}
	switch {
	case err != nil && len(k.result.Attempts) == 0:
		return err
	case err != nil:
		return k.complete(&Error{Class: ClassCanceled, Err: err})
	case last != nil:
		return k.notMade(last)
	}
	k.tries++
	return nil
}

// tellAttempts tells the hook of the attempts from number made of the list.
func (k *call) tellAttempts(made int) {
	for i := made; i < len(k.result.Attempts) && k.caller.hooks.Attempt != nil; i++ {
		rec := k.result.Attempts[i] // a copy, which a hook may keep
		k.caller.hooks.Attempt(AttemptEvent{k.name(), k.tries + 1, &rec})
	}
}

// prepare fills in what the next attempt is made with.
func (k *call) prepare() {
	t := &k.try
	t.req, t.limits, t.maxBody, t.tell = k.req, k.dep.Limits, k.caller.maxBody, k.dep.tell()
	t.number, t.keep = k.dep.numbers[k.tries:k.tries+1:k.tries+1], k.answer
	t.start = time.Time{}
}

// again says whether another attempt follows, after the wait before it, or
// returns the error of the call.
func (k *call) again() (bool, error) {
	rec := k.last()
	if rec.Class == ClassOK {
		return false, nil
	}
	why := ""
	switch ok, reason := mayRepeat(k.req, rec); {
	case !ok:
		why = reason
	case k.tries >= k.dep.Retry.Attempts:
		why = "no attempts left"
	default:
		return k.prepareAgain(rec)
	}
	return false, k.fail(rec, why)
}

// prepareAgain waits for the next attempt if there is time for it and for the
// call after it.
func (k *call) prepareAgain(rec *Record) (bool, error) {
	wait, asked := k.delay(rec)
	if left, bounded := Left(k.ctx); bounded && left < wait+k.dep.Expected {
		why := "the wait does not fit"
		if asked {
			why = "the Retry-After does not fit"
		}
		return false, k.skip(&Error{Class: ClassBelowFloor, Limit: LimitFloor, Why: why, Left: left, Needed: wait + k.dep.Expected})
	}
	if !k.dep.throttle.Retry(time.Now()) {
		const why = "the retry throttle allows no more"
		k.tell(SkipEvent{Class: rec.Class, Why: why})
		return false, k.fail(rec, why)
	}
	if err := k.rewind(); err != nil {
		return false, k.fail(rec, err.Error())
	}
	if err := k.wait(wait, asked); err != nil {
		closeBody(k.req)
		return false, err
	}
	return true, nil
}

// fail is how a call ends that gets no further attempt: with an answer if the
// partner gave one, else with an error.
func (k *call) fail(rec *Record, why string) error {
	if rec.Class == ClassStatus {
		k.answer.Why = why
		return nil
	}
	e := &Error{
		Class: rec.Class, Phase: rec.Phase, Limit: rec.Limit, Configured: rec.Configured,
		Why: why, Err: errors.Unwrap(rec.Err),
	}
	return k.complete(e)
}

// judge is what an attempt says of its partner's health. short says that less
// than the usual time was left for it.
func judge(rec *Record, short bool) breaker.Outcome {
	switch rec.Class {
	case ClassOK:
		return breaker.Success
	case ClassStatus:
		if rec.Status == http.StatusTooManyRequests || rec.Status >= 500 {
			return breaker.Failure
		}
		return breaker.Success
	case ClassCanceled, ClassBelowFloor, ClassPoolTimeout:
		return breaker.Neutral
	case ClassBudgetExhausted, ClassAttemptTimeout:
		// Our own queue, or a time that we did not give it.
		if rec.Phase <= PhasePool || (short && rec.Class == ClassBudgetExhausted) {
			return breaker.Neutral
		}
	}
	return breaker.Failure
}
