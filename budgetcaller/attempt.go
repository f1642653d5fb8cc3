package budgetcaller

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// attempt is one try on the wire while it is under way. One goroutine drives
// it from start to finish; the watchdog and a cancel act on it only through
// its verdict and cut.
type attempt struct {
	alarm *alarm      // rings the watchdog
	spare http.Header // for the copy of the request's header, used again
	underway
}

// underway is what an attempt knows of itself from begin to finish.
type underway struct {
	caller *Caller
	ctx    context.Context
	rec    *Record // where the account goes; the driving goroutine's own

	verdict verdict
	span    span
	marks   [phaseCount]atomic.Int64 // when each phase was entered, 0 if never
	hearing hearing

	// sent is set before the first byte of the request is handed to the
	// connection: from then on the partner may have acted on it.
	sent atomic.Bool
	// handed is set once the whole request is with the system.
	handed atomic.Bool

	origin     int64 // the start, as the alarm counts
	ringing    ringing
	stopCancel func() bool // ends the watch over a ctx that is no budget of ours
	stub       *stubCall   // set with a stub

	mu         sync.Mutex
	fired      int64              // when the limit that fired ended
	alarmed    bool               // it was the alarm by which that was seen
	over       bool               // cut has run: what is attached now is released at once
	cancelDial context.CancelFunc // set while looking up and dialling
	wake       chan struct{}      // closed by cut; set while waiting for a connection
	conn       *conn
	place      *hostPool // while a connection is being made, of the driving goroutine
	upload     *upload   // set if the request has a body
	sending    sending   // while in PhaseRequest

	req    *http.Request
	route  route
	limits Limits
	tell   telling
	number []string // the value of HeaderAttempt
	// ownReq and ownHeader say that req and its header are copies by now.
	ownReq, ownHeader bool
	copied            http.Request // such a copy, where it need not outlive the attempt
	values            [2]string    // its headers of the deadline
	body              body         // the answer's
	scrap             [64]byte     // where the end of a body is looked for
	untouched         bool         // set by finish: nobody but its goroutine has ever acted on it
}

// begin starts an attempt and its watchdog. The caller must drive it to finish.
func (c *Caller) begin(ctx context.Context, t *try) *attempt {
	a := c.attempts.Get().(*attempt)
	a.caller, a.ctx, a.req, a.route, a.limits = c, ctx, t.req, t.route, t.limits
	a.tell, a.number, a.rec = t.tell, t.number, t.rec
	a.span = newSpan(t.limits, t.start, t.deadline)
	if a.rec == nil {
		a.rec = new(Record)
	}
	*a.rec = Record{Method: methodOf(t.req), URL: t.req.URL, Expected: -1, Start: t.start}
	a.verdict.enter(PhasePool)
	a.origin = int64(t.start.Sub(a.alarm.base))
	if at, _ := a.span.nearest(PhasePool, never); at != never {
		a.alarm.set(a, after(a.origin, time.Duration(at)))
	}
	a.watchContext()
	return a
}

func (c *Caller) newAttempt() any { return &attempt{alarm: c.alarms.next()} }

// mostSpare bounds the header that is kept for another attempt.
const mostSpare = 32

// reuse keeps a, which is finished, for another attempt, unless somebody may
// still act on it.
func (c *Caller) reuse(a *attempt) {
	if !a.untouched {
		return
	}
	if len(a.spare) > mostSpare {
		a.spare = nil
	}
	clear(a.spare)
	a.underway = underway{}
	c.attempts.Put(a)
}

// enter moves to phase p and notes when. False means that the outcome is
// decided (or p is past) and the attempt must go to finish.
func (a *attempt) enter(p Phase) bool {
	return a.enterAt(p, a.span.now())
}

func (a *attempt) enterAt(p Phase, now int64) bool {
	if !a.verdict.enter(p) {
		return false
	}
	a.marks[p].Store(now)
	return true
}

// rule decides the attempt for a limit that ended at the point at, or for a
// cancel, and on success takes away what the attempt holds. alarmed says that
// it is by the alarm, which has let go of it.
func (a *attempt) rule(o outcome, c Class, l Limit, at int64, alarmed bool) bool {
	a.mu.Lock()
	won := a.verdict.decideFrom(o, c, l)
	if won {
		a.fired, a.alarmed = at, alarmed
	}
	a.mu.Unlock()
	if won {
		a.cut()
	}
	return won
}

// watchContext has contextOver called when ctx is over.
func (a *attempt) watchContext() {
	if b := plainBudget(a.ctx); b != nil {
		b.watch(a, false)
	} else if a.ctx.Done() != nil {
		a.stopCancel = context.AfterFunc(a.ctx, a.contextOver)
	}
}

// unwatchContext reports whether contextOver was not called and will not be.
func (a *attempt) unwatchContext() bool {
	if a.stopCancel != nil {
		return a.stopCancel()
	} else if b := plainBudget(a.ctx); b != nil {
		return b.unwatch(a)
	}
	return true
}

// giveUp cancels the attempt from within.
func (a *attempt) giveUp() { a.end(ClassCanceled, LimitNone) }

// end decides the attempt now, in whatever phase it is.
func (a *attempt) end(c Class, l Limit) {
	for {
		o := a.verdict.load()
		if o.decided() || a.rule(o, c, l, a.span.now(), false) {
			return
		}
	}
}

// contextOver is called when ctx is over. A deadline of ctx is the budget, which
// the watchdog judges; only a cancel is a cancel.
func (a *attempt) contextOver() {
	if canceled(a.ctx) {
		a.giveUp()
		return
	}
	a.watch(false)
	a.end(ClassBudgetExhausted, LimitBudget) // a ctx that ends before the deadline that it told of
}

// cut releases all that the attempt waits on, so that its goroutine comes back
// at once. It must only be called once the outcome is decided.
func (a *attempt) cut() {
	a.mu.Lock()
	a.over = true
	cancel, wake, conn, up, stub := a.cancelDial, a.wake, a.conn, a.upload, a.stub
	a.wake = nil
	a.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	if stub != nil {
		stub.cancel()
	}
	if wake != nil {
		close(wake)
	}
	if conn != nil {
		go conn.abort() // it waits for a read that is pending, and others may be due
	}
	if up != nil {
		up.aborted.Store(true)
		go up.abort() // the user's Close may take its time
	}
}

// hold makes set's change under the lock, unless cut has run already: then it
// reports false and what was to be held must be released by the caller.
func (a *attempt) hold(set func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	set()
	return true
}

func methodOf(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return req.Method
}
