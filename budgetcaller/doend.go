package budgetcaller

import (
	"errors"
	"time"

	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/breaker"
)

// mayStart refuses an attempt for which there is too little of the budget, or
// nobody to answer any more.
func (k *call) mayStart(left time.Duration, bounded bool) error {
	if canceled(k.ctx) {
		return k.complete(&Error{Class: ClassCanceled})
	}
	if floor := k.dep.Limits.Floor; bounded && left < floor {
		return k.skip(&Error{Class: ClassBelowFloor, Limit: LimitFloor, Configured: floor, Left: left, Needed: floor})
	}
	return nil
}

// delay is the wait before the next attempt, and whether the partner asked for
// it. Its word counts if it is longer than our own: zero would be a hot loop.
func (k *call) delay(rec *Record) (time.Duration, bool) {
	own := k.dep.backoff.Delay(k.tries, &k.chance)
	if rec.Class == ClassStatus {
		if asked, ok := backoff.ParseRetryAfter(rec.RetryAfter, time.Now()); ok && asked >= own {
			return asked, true
		}
	}
	return own, false
}

// wait is the phase backoff. It ends early if the caller gives up.
func (k *call) wait(d time.Duration, asked bool) error {
	if hook := k.caller.hooks.Wait; hook != nil {
		hook(WaitEvent{k.name(), k.tries, d, asked})
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	began := time.Now()
	var err error
	select {
	case <-timer.C:
	case <-k.ctx.Done():
		e := &Error{Class: ClassCanceled, Phase: PhaseBackoff}
		if !canceled(k.ctx) {
			e.Class, e.Limit = ClassBudgetExhausted, LimitBudget
		}
		err = k.complete(e)
	}
	k.last().Phases.add(PhaseBackoff, time.Since(began))
	return err
}

// rewind makes the request's body new for another attempt.
func (k *call) rewind() error {
	if !hasBody(k.req) {
		return nil
	}
	body, err := k.req.GetBody()
	if err == nil && body == nil {
		err = errors.New("its GetBody gave no body")
	}
	if err != nil {
		return err
	}
	again := *k.req
	again.Body = body
	k.req = &again
	return nil
}

// complete adds to e what is known of the whole call.
func (k *call) complete(e *Error) error {
	e.Dependency = k.name()
	e.Attempts = k.result.Attempts
	e.Last = k.last()
	e.Effect = k.result.Effect()
	return e
}

// skip is complete for a call that ends with an attempt not made.
func (k *call) skip(e *Error) error {
	why := e.Why
	if why == "" {
		why = e.Class.String()
	}
	k.tell(SkipEvent{Class: e.Class, Why: why, Left: e.Left, Needed: e.Needed})
	return k.complete(e)
}

func (k *call) tell(e SkipEvent) {
	if hook := k.caller.hooks.Skip; hook != nil {
		e.Dependency, e.Number = k.name(), k.tries+1
		hook(e)
	}
}

func (k *call) name() string {
	if k.dep.Name != "" {
		return k.dep.Name
	}
	return k.req.URL.Host
}

func (k *call) leftNow() time.Duration {
	left, _ := Left(k.ctx)
	return left
}

// changed tells of a change of the breaker, if there was one.
func (k *call) changed(change *breaker.Change) {
	if hook := k.caller.hooks.Breaker; hook != nil && change != nil {
		hook(BreakerEvent{k.name(), change.From.String(), change.To.String(), change.Reason.String()})
	}
}

// unmade takes back and returns the last record, if it is one from number made
// of the list and of an attempt that was not made after all: time passes between
// the look at the floor here and the one just before the wire, and more of it
// where a redirect is followed.
func (k *call) unmade(made int) *Record {
	n := len(k.result.Attempts) - 1
	if n < made || k.result.Attempts[n].Phase != PhaseNone {
		return nil
	}
	rec := k.result.Attempts[n]
	k.result.Attempts = k.result.Attempts[:n]
	return &rec
}

// notMade is the error with which a call ends whose last attempt, of that
// record, was not made.
func (k *call) notMade(rec *Record) error {
	e := &Error{Class: rec.Class, Limit: rec.Limit, Configured: rec.Configured}
	if rec.Class != ClassBelowFloor {
		return k.complete(e)
	}
	e.Left, e.Needed = k.leftNow(), rec.Configured
	return k.skip(e)
}

// Breaker returns where the breaker of the dependency of that name stands, and
// false if there is no such dependency or it has none.
func (c *Caller) Breaker(name string) (breaker.Snapshot, bool) {
	d := c.byName[name]
	if d == nil || d.breaker == nil {
		return breaker.Snapshot{}, false
	}
	return d.breaker.Snapshot(), true
}
