package faults

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// Exchange is one request on its connection, as a fault sees it; for a fault at
// connection level, the connection before any request. A fault says what is to
// happen and never touches the socket. It must not keep the Exchange.
type Exchange struct {
	c    *conn
	plan *plan
	req  *http.Request
	spec *Spec
	slot *entry // in the ledger; nil until begun
	e    entry  // what the slot is to become

	close        bool // no further request on this connection
	expects      bool // the client waits for 100 Continue
	bodyDone     bool
	wrong        error // what a fault that reads the body itself found wrong with it
	wrongStatus  int
	acted        bool
	watched      bool // the parker looks whether the client leaves
	staged       bool // work begins later than the request was whole: workFrom, workTo
	dead         bool // a write ended with an error, or the client was seen to leave
	deadHow      outcome
	deadAt       int64
	deadByClient bool

	workFrom, workTo int64 // where staged; 0: nothing was worked

	first keyed // the effect this request had, or whose repeat it is
	buf   []byte
	w     waiter
	end   ending
}

// ending is how a fault wants the exchange to end.
type ending struct {
	how   outcome // of the ledger; notEnded: answered
	hold  time.Duration
	watch watch // while it hangs; watchNone: watchDiscard
	kind  endKind
}

type endKind uint8

const (
	endAnswer endKind = iota // the answer is whole; another request may follow
	endHold                  // hangs
	endFIN                   // an orderly end
	endRST                   // a RST
)

func (x *Exchange) begin(c *conn, now int64) {
	nth := c.nth.Add(1)
	x.c = c
	c.answering.Store(0)
	x.e.listener, x.e.isRequest, x.e.conn, x.e.nth = c.l, true, c.id, nth
	x.e.remote, x.e.accepted, x.e.begun = c.remote, c.accepted, now
}

// release makes x ready for another request.
func (x *Exchange) release() {
	p := x.c.p
	buf, ch := x.buf[:0], x.w.ch
	if cap(buf) > 1<<16 {
		buf = nil
	}
	*x = Exchange{buf: buf, w: waiter{ch: ch}}
	p.exchanges.Put(x)
}

// rand returns the generator from which the fault's delays are drawn.
func (x *Exchange) rand() *rand.Rand { return x.plan.rand(x.e.number, streamDelay) }

// draw draws a delay from s.
func (x *Exchange) draw(s Shape) time.Duration {
	if !s.Random() {
		return s.Draw(nil)
	}
	return s.Draw(x.rand())
}

// Since returns how long ago the request was whole.
func (x *Exchange) Since() time.Duration { return time.Duration(x.c.p.clock.now() - x.e.whole) }

// Work does d of work, counted from when the request was whole, and notes it as
// the delay that was asked for. It goes on when the client has left: most
// servers do not notice. It returns false if the partner is shutting down.
func (x *Exchange) Work(d time.Duration) bool { return x.work(x.e.whole, d, false) }

// labor is Work counted from now on, for those who had to wait for it.
func (x *Exchange) labor(d time.Duration, heedLeaving bool) bool {
	x.workFrom = x.c.p.clock.now()
	done := x.work(x.workFrom, d, heedLeaving)
	x.workTo = x.c.p.clock.now()
	return done
}

func (x *Exchange) work(from int64, d time.Duration, heedLeaving bool) bool {
	x.e.asked = int64(d)
	done := d == 0 || x.sleep(from+int64(d), heedLeaving, watchKeep)
	x.e.worked = x.c.p.clock.now() - from
	return done
}

// WaitUntil waits until d after the request was whole. It returns false if the
// client has left or the partner is shutting down: then there is nothing more
// to do.
func (x *Exchange) WaitUntil(d time.Duration) bool {
	if x.dead {
		return false
	}
	return x.wait(d, watchKeep)
}

// wait is WaitUntil with another way of watching the client.
func (x *Exchange) wait(d time.Duration, mode watch) bool {
	if !x.sleep(x.e.whole+int64(d), true, mode) {
		x.hasLeft() // or the partner is shutting down
		return false
	}
	return true
}

func (x *Exchange) sleep(until int64, heedLeaving bool, mode watch) bool {
	p := x.c.p
	gone := x.look(mode)
	if !heedLeaving {
		gone = nil
	}
	p.clock.start(&x.w, until)
	select {
	case <-x.w.ch:
		return true
	case <-gone:
	case <-p.stopping:
	}
	p.clock.cancel(&x.w)
	if p.isStopping() {
		x.end = ending{kind: endRST, how: stopped}
	}
	return false
}

// look lets the parker watch the client. The channel is closed when it leaves.
func (x *Exchange) look(mode watch) <-chan struct{} {
	if !x.watched {
		x.watched = true
		x.e.seq = x.slot.seq
		x.c.p.ledger.publish(x.slot, &x.e) // so that it is seen as it stands
	}
	if x.leftBefore() {
		gone := make(chan struct{})
		close(gone)
		return gone
	}
	return x.c.watchDuring(x.slot, mode)
}

// leftBefore says whether the client was seen to leave in an earlier wait of
// this request: the first time is when it left.
func (x *Exchange) leftBefore() bool {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	return x.c.left >= x.e.begun
}

// dies notes that the connection broke with err.
func (x *Exchange) dies(err error) {
	if x.wasShut() {
		return
	}
	x.dead, x.deadAt = true, x.c.p.clock.now()
	x.deadHow, x.deadByClient = blame(err)
	if x.c.p.isStopping() {
		x.deadHow, x.deadByClient = stopped, false
	}
}

// act lets the effect take place, if it is to. The first answer to the same
// Idempotency-Key is status and size from now on.
func (x *Exchange) act(status int, size int64) { x.actWith(answer{status: status, size: size}) }

// actWith is act with further header lines.
func (x *Exchange) actWith(a answer) {
	if x.acted || !x.spec.effect {
		return
	}
	x.acted = true
	x.first, x.e.duplicate = x.c.l.effects.act(x.e.key, x.c.p.clock.now(), a)
	x.e.effectID, x.e.effect = x.first.id, !x.e.duplicate
}

// Hang leaves the client without another byte for at most hold. It must be the
// last thing a fault does, as must be the other endings.
func (x *Exchange) Hang(hold time.Duration) { x.end = ending{kind: endHold, hold: hold} }

// endFIN ends the connection in an orderly way (FIN), which the ledger calls how.
func (x *Exchange) endFIN(how outcome) { x.end = ending{kind: endFIN, how: how} }

// endRST ends the connection with a RST once the bytes before it have left.
func (x *Exchange) endRST() { x.end = ending{kind: endRST, how: reset} }

// finish ends the exchange as the fault wants it, unless the client has left.
func (x *Exchange) finish() bool {
	c := x.c
	if x.watched {
		x.lastLook()
	}
	if x.end.kind == endHold && !x.dead {
		c.hold(x)
		return false
	}
	c.endWatch()
	left, leftHow, byClient := x.deadAt, x.deadHow, x.deadByClient
	if x.e.sent == 0 {
		x.e.status, x.e.bytes = 0, 0 // prepared, and never sent
	}
	now := c.p.clock.now()
	x.e.ended, x.e.how = now, x.end.how
	if x.end.how == notEnded {
		x.e.how = answered
	}
	if left != 0 {
		x.e.ended, x.e.how, x.e.byClient = left, leftHow, byClient
		if byClient {
			x.orphan(left, now)
		}
		x.publishFinal()
		c.close(leftHow, byClient)
		return false
	}
	switch x.end.kind {
	case endRST:
		c.resetNow()
		x.e.ended = c.p.clock.now()
		x.publishFinal()
		c.close(x.e.how, false)
		return false
	case endFIN:
		x.publishFinal()
		c.linger(x.e.how)
		return false
	}
	x.publishFinal()
	if x.close || c.overflow || !x.bodyDone && x.req.Body != http.NoBody {
		c.linger(closed)
		return false
	}
	return true
}

// orphan notes the work done after the client had left.
func (x *Exchange) orphan(left, now int64) {
	from, to := x.e.whole, now
	if x.staged {
		from, to = x.workFrom, x.workTo
	}
	x.e.overlap = max(0, to-max(from, left))
	if from > left {
		x.e.orphaned = to - from
	}
	x.c.countLeft()
	x.c.l.stats.orphaned.Add(x.e.overlap)
}

// publishFinal gives the ledger the last word on this request. It has been
// counted by then, so that whoever waited for the entry finds the counts right.
func (x *Exchange) publishFinal() {
	x.e.final = true
	if x.e.firstWrite != 0 {
		x.e.delivered = x.e.firstWrite - x.e.whole
	}
	if x.e.firstWrite != 0 && x.e.asked != 0 {
		x.c.l.stats.asked.observe(x.e.asked)
		x.c.l.stats.over.observe(x.e.delivered - x.e.waited - x.e.asked)
	}
	x.e.seq = x.slot.seq
	x.c.l.stats.ended(x.e.mode, x.e.how, x.e.byClient)
	x.c.p.ledger.publish(x.slot, &x.e)
}
