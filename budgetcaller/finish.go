package budgetcaller

import "time"

// finish ends the attempt: it proposes an outcome, takes the one that stands,
// gives back or closes the connection, and completes the record.
func (a *attempt) finish(c Class, l Limit, err error) *Record {
	won := a.verdict.decide(c, l)
	unrung := a.dropAlarm(won)
	unwatched := a.unwatchContext()
	a.untouched = won && unrung && unwatched && a.upload == nil
	switch {
	case a.upload == nil:
		closeBody(a.req)
	case !won || !a.upload.succeeded():
		// The answer came before the request was whole, or none came: the rest
		// of the body has no one to go to.
		a.conn.abort()
		a.upload.end()
	}
	if a.place != nil {
		a.place.drop()
		a.place = nil
	}
	if a.conn != nil {
		kept := a.conn.release(won && (c == ClassOK || c == ClassStatus))
		a.untouched = a.untouched && kept
	}
	if a.stub != nil {
		a.stub.cancel()
		if resp := a.body.resp; resp != nil {
			_ = resp.Body.Close()
		}
	}
	a.complete(won, err)
	return a.rec
}

// dropAlarm ends the watch of the alarm, and reports whether it never rang.
// Where it was the alarm that decided, it has let go already: then its lock,
// for which many may be waiting just now, is left alone.
func (a *attempt) dropAlarm(won bool) bool {
	if !won {
		a.mu.Lock()
		alarmed := a.alarmed
		a.mu.Unlock()
		if alarmed {
			return false
		}
	}
	return a.alarm.drop(a)
}

// complete fills the record from the outcome that stands.
func (a *attempt) complete(won bool, err error) {
	end := a.span.now()
	o := a.verdict.load()
	rec := a.rec
	rec.Class, rec.Phase, rec.Limit = o.class, o.phase, o.limit
	rec.Effect = o.class.effect(a.sent.Load(), rec.Status)
	rec.Elapsed = time.Duration(end)
	if o.limit != LimitNone && o.limit != LimitKernel {
		rec.Configured = a.span.configured(o.limit, a.limits, budgetOf(a.ctx))
		a.mu.Lock()
		rec.Overshoot = max(0, time.Duration(end-a.fired))
		a.mu.Unlock()
	}
	a.phaseTimes(o.phase, end)
	if o.class != ClassOK && o.class != ClassStatus {
		if !won {
			err = a.upload.failure() // what else came after the verdict is its echo
		}
		rec.Err = &Error{
			Class: o.class, Phase: o.phase, Limit: o.limit, Effect: rec.Effect,
			Configured: rec.Configured, Err: err,
		}
	}
}

// phaseTimes turns the marks into durations: a phase lasts until the next one
// that was reached.
func (a *attempt) phaseTimes(last Phase, end int64) {
	until := end
	for p := last; p > PhaseNone; p-- {
		at := a.marks[p].Load()
		if p == last && at == 0 {
			at = until
		}
		if at == 0 {
			continue
		}
		at = min(at, until) // marks may be set out of order
		a.rec.Phases.add(p, time.Duration(until-at))
		until = at
	}
}
