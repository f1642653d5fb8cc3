package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"chaoslab/budgetcaller"
)

// canceled reports whether whoever asked gave up. A deadline that has passed is
// no cancel.
func canceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// judge says how a function of p ended that ran with ctx and whose longest time
// was limit, own if that was a limit of the part itself.
func judge(ctx context.Context, p *part, ret returned, limit time.Duration, own bool) *ending {
	e := &ending{called: true, class: budgetcaller.ClassOK, phase: budgetcaller.PhaseBody, effect: budgetcaller.EffectAnswered}
	if a := ret.answer; a != nil {
		e.attempts, e.status = a.Result.Attempts, a.Status
		if len(e.attempts) > 0 {
			e.effect = a.Result.Effect()
		}
		if !a.OK() {
			e.class, e.why = budgetcaller.ClassStatus, fmt.Sprintf("status %d", a.Status)
			e.err = fmt.Errorf("%s: %s", p.Name, e.why)
			return e
		}
	}
	if ret.err == nil {
		return e
	}
	e.fail(ctx, p, ret, limit, own)
	return e
}

// fail is judge for an error.
func (e *ending) fail(ctx context.Context, p *part, ret returned, limit time.Duration, own bool) {
	e.err = fmt.Errorf("%s: %w", p.Name, ret.err)
	e.why = oneLine(ret.err)
	var panicked *PanicError
	var call *budgetcaller.Error
	switch {
	case errors.As(ret.err, &panicked):
		e.class, e.phase = budgetcaller.ClassNone, budgetcaller.PhaseNone
		e.unsure()
	case ret.answer != nil:
		e.class, e.why = budgetcaller.ClassMalformed, "its answer cannot be read: "+e.why
		e.err = fmt.Errorf("%s: its answer cannot be read: %w", p.Name, ret.err)
	case errors.As(ret.err, &call):
		e.failed(ctx, p, call, limit, own)
		if call.Dependency != "" && ret.err == error(call) {
			e.err = ret.err // it says whom it is about
		}
	case canceled(ctx):
		e.class, e.phase = budgetcaller.ClassCanceled, budgetcaller.PhaseNone
		e.why = join(context.Cause(ctx).Error(), ret.err)
		e.unsure()
	case ctx.Err() != nil:
		e.class, e.phase, e.limit = budgetcaller.ClassBudgetExhausted, budgetcaller.PhaseNone, budgetcaller.LimitBudget
		e.why = join(ranOut(limit, own), ret.err)
		e.unsure()
	default: // it is no failure of a call that we know of
		e.class, e.phase = budgetcaller.ClassNone, budgetcaller.PhaseNone
		e.unsure()
	}
}

// unsure is the effect of what ended without a word about it: unless its
// partner answered, it may have happened.
func (e *ending) unsure() {
	if len(e.attempts) == 0 {
		e.effect = budgetcaller.EffectUnknown
	}
}

// failed is fail for the error of a call.
func (e *ending) failed(ctx context.Context, p *part, call *budgetcaller.Error, limit time.Duration, own bool) {
	e.class, e.phase, e.limit, e.effect = call.Class, call.Phase, call.Limit, call.Effect
	e.attempts = call.Attempts
	e.called = len(call.Attempts) > 0
	if call.Last != nil {
		e.status = call.Last.Status
	}
	switch call.Class {
	case budgetcaller.ClassBelowFloor:
		e.why = fmt.Sprintf("%v left, floor %v", short(call.Left), short(call.Configured))
		if call.Why != "" {
			e.why = fmt.Sprintf("%s: %v left, needs %v", call.Why, short(call.Left), short(call.Needed))
		}
	case budgetcaller.ClassBreakerOpen:
		e.why = "breaker open"
	case budgetcaller.ClassCanceled:
		e.why = "canceled"
		if canceled(ctx) {
			e.why = context.Cause(ctx).Error()
		}
	case budgetcaller.ClassBudgetExhausted:
		e.why = ranOut(limit, own)
	default:
		e.why = ""
		if !p.once() { // that nothing follows the only attempt there is needs no reason
			e.why = call.Why
		}
	}
}

// ranOut names what a call that was cut had run out of.
func ranOut(limit time.Duration, own bool) string {
	if own {
		return fmt.Sprintf("its limit of %v", short(limit))
	}
	return fmt.Sprintf("the %v left for it", short(limit))
}

// join adds to why what err says beyond the end of a context.
func join(why string, err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return why
	}
	return why + "; " + oneLine(err)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// short rounds a duration to what a person reads.
func short(d time.Duration) time.Duration {
	if d >= 10*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
