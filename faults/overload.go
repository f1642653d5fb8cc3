package faults

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"chaoslab/budgetcaller/deadline"
)

func overloadFault() Fault {
	return Fault{
		Name: "overload", Effect: "when served", acts: true, Curl: "0", Class: "ok",
		Summary: "workers and a bounded queue: the latency comes from the load; when full, waits or sheds with 503",
		Params: []Param{
			{Name: "workers", Kind: KindInt, Default: "4", Min: 1, Max: 1 << 16, Help: "requests that are worked on at once"},
			{Name: "queue", Kind: KindInt, Default: "16", Max: 1 << 16, Help: "places of the queue in front of the workers"},
			{Name: "work", Kind: KindShape, Default: "100ms", Max: int64(MaxDelay), Help: "what each request takes once it has a worker"},
			{Name: "wait", Kind: KindDuration, Default: "0s", Max: int64(MaxDelay), Help: "how long one that finds the queue full waits for a place in it before it is shed"},
			{Name: "retry-after", Kind: KindText, Default: "1", Help: "whole seconds, the header of a 503 that sheds; none: no such header"},
			{Name: "drop", Kind: KindWord, Default: "none", Words: []string{"none", "gone", "deadline", "both"}, Help: "takes out of the queue whose client has left, whose deadline header is over (504), or both"},
		},
		build: buildOverload,
	}
}

// overload is the fault with its parameters.
type overload struct {
	office         *office
	wait           time.Duration
	shed           answer
	gone, deadline bool // what is dropped from the queue
}

func buildOverload(a args) (behavior, error) {
	o := &overload{
		office: newOffice(int(a.int("workers")), int(a.int("queue")), a.shape("work")),
		wait:   a.duration("wait"),
		shed:   answer{status: http.StatusServiceUnavailable, size: defaultSize, noEffect: true},
	}
	if retry := a.word("retry-after"); retry != "none" {
		if _, err := strconv.ParseUint(retry, 10, 31); err != nil {
			return behavior{}, errors.New("retry-after: " + strconv.Quote(retry) + ": write whole seconds, or none")
		}
		o.shed.extra = "Retry-After: " + retry + "\r\n"
	}
	drop := a.word("drop")
	o.gone, o.deadline = drop == "gone" || drop == "both", drop == "deadline" || drop == "both"
	return behavior{counts: true, limits: true, request: o.request, office: o.office}, nil
}

func (o *overload) request(x *Exchange) {
	x.staged = true
	line := o.office.line
	t, ok := line.enter(o.wait > 0)
	if !ok {
		x.answer(o.shed)
		return
	}
	out, ok := o.queue(x, t)
	x.e.waited = x.c.p.clock.now() - x.e.whole
	if ok && x.labor(x.draw(line.workNow()), false) {
		out = answer{status: http.StatusOK, size: defaultSize}
	}
	line.leave(t) // before the answer: whoever has it finds the place free
	if out.status != 0 {
		x.answer(out)
	}
}

// queue waits for t's turn. If it does not come, it returns false and what is to
// be answered, if that is anything.
func (o *overload) queue(x *Exchange, t *ticket) (answer, bool) {
	late := o.late(x)
	place := x.e.whole + int64(o.wait)
	for {
		// Looked at first, for a deadline that comes together with the turn.
		if late != 0 && late <= x.c.p.clock.now() {
			return answer{status: http.StatusGatewayTimeout, size: defaultSize, noEffect: true}, false
		}
		until := late
		if o.office.line.isBehind(t) && (late == 0 || place < late) {
			until = place
		}
		switch x.await(t, until, o.gone) {
		case itsTurn:
			return answer{}, true
		case leftAlone:
			return answer{}, false
		case timedOut:
			if until == place && o.office.line.isBehind(t) {
				return o.shed, false
			}
		}
	}
}

// late returns when nobody waits for x any more, as its deadline headers have
// it; 0 if they say nothing or are not heeded.
func (o *overload) late(x *Exchange) int64 {
	if !o.deadline {
		return 0
	}
	arrived := x.c.p.base.Add(time.Duration(x.e.begun))
	until, verdict := deadline.Adopt(x.req.Header, arrived, deadline.MaxCap, deadline.DefaultSkew)
	if verdict.By == deadline.ByCap && !verdict.Over {
		return 0
	}
	return int64(until.Sub(x.c.p.base))
}
