package faults

import (
	"time"
)

// sentTime bounds the wait for bytes to leave before a RST, which would
// overtake them.
const sentTime = 500 * time.Millisecond

// hold leaves the request hanging: the connection goes to the parker, and
// nothing else of it stays.
func (c *conn) hold(x *Exchange) {
	c.l.stats.hung.Add(1)
	x.e.seq = x.slot.seq
	c.p.ledger.publish(x.slot, &x.e)
	if held := c.holdEntry(x.slot, x.end); held != nil {
		if c.left != 0 {
			c.countLeft()
			c.endHeld(held, c.leftHow, true)
			return
		}
		c.endHeld(held, stopped, false)
	}
}

// holdEntry parks c with slot as what hangs. If the client has already left it
// returns slot instead.
func (c *conn) holdEntry(slot *entry, end ending) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone, c.current, c.saved = nil, nil, nil
	if c.left != 0 || c.p.isStopping() {
		return slot
	}
	c.stream, c.tls = nil, nil // buffers that are not needed any more
	c.held = slot
	mode := end.watch
	if mode == watchNone {
		mode = watchDiscard
	}
	if !c.parkLocked(mode, c.p.clock.now()+int64(end.hold)) {
		c.held = nil
		return slot
	}
	return nil
}

// resetNow makes the next close a RST, after the bytes before it have left.
func (c *conn) resetNow() {
	for until := c.p.clock.now() + int64(sentTime); c.unsent() > 0 && c.p.clock.now() < until; {
		w := waiter{ch: make(chan struct{}, 1)}
		c.p.clock.start(&w, c.p.clock.now()+int64(100*time.Microsecond))
		<-w.ch
	}
	_ = c.tcp.SetLinger(0)
}

// linger ends our side of the connection in an orderly way and lets the parker
// drain the other: a FIN with unread bytes behind it would become a RST.
func (c *conn) linger(how outcome) {
	if c.tls != nil {
		_ = c.tls.CloseWrite()
	}
	_ = c.tcp.CloseWrite()
	now := c.p.clock.now()
	c.p.ledger.update(c.slot, func(e *entry) { e.ended, e.how = now, how })
	c.mu.Lock()
	c.lingering, c.saved = true, nil
	gone := c.left != 0
	ok := !gone && c.parkLocked(watchDiscard, now+int64(lingerTime))
	c.mu.Unlock()
	if !ok {
		c.close(how, false)
	}
}
