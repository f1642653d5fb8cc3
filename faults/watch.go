package faults

import "time"

// park gives c to the parker until mode's event comes or until passes. It
// returns false if c is already over.
func (c *conn) park(mode watch, until int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parkLocked(mode, until)
}

func (c *conn) parkLocked(mode watch, until int64) bool {
	if c.over {
		return false
	}
	c.watch, c.until = mode, until
	return c.p.parker.add(c) == nil
}

// watchDuring lets the parker watch c while a request is being answered. The
// channel returned is closed when the client leaves.
func (c *conn) watchDuring(slot *entry, mode watch) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = slot
	if c.gone == nil {
		c.gone = make(chan struct{})
		c.watch = mode
		if c.over || c.p.parker.add(c) != nil {
			c.watch = watchNone
		}
	}
	return c.gone
}

// endWatch takes c back from the parker.
func (c *conn) endWatch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch != watchNone {
		c.watch = watchNone
		c.p.parker.remove(c)
	}
	c.gone, c.current = nil, nil
}

// ready is called by the parker when something has come for c.
func (c *conn) ready(scratch []byte) {
	c.mu.Lock()
	switch c.watch {
	case watchNone:
		c.mu.Unlock()
		return
	case watchIdle:
		c.watch, c.until = watchNone, 0
		c.mu.Unlock()
		c.p.spawn(c.serve)
		return
	case watchEnd:
		c.leaves(c.endSeen())
		return
	}
	// A client that floods the partner must not keep the others waiting.
	for range 16 {
		data, again, how := c.receive(scratch)
		if again {
			break
		}
		if how != notEnded {
			c.leaves(how)
			return
		}
		if c.watch != watchKeep {
			continue
		}
		if room := maxSaved - len(c.saved); len(data) <= room {
			c.saved = append(c.saved, data...)
		} else {
			c.overflow = true
		}
	}
	c.mu.Unlock()
}

// leaves notes that the client has left. It is called with the lock held and
// gives it back.
func (c *conn) leaves(how outcome) {
	now := c.p.clock.now()
	c.left, c.leftHow = now, how
	c.watch = watchNone
	c.p.parker.remove(c)
	if c.gone != nil {
		close(c.gone)
		c.gone = nil
	}
	current, held, lingering := c.current, c.held, c.lingering
	c.held, c.current = nil, nil
	c.worksOn = current != nil
	c.mu.Unlock()
	switch {
	case lingering:
		c.close(closed, false)
	case held != nil:
		c.countLeft()
		c.endHeld(held, how, true)
	case current != nil:
		// Whoever works on the request goes on or not, as the fault has it, and
		// has the last word on it; the connection is over for all.
		c.countLeft()
		c.p.ledger.update(current, func(e *entry) {
			e.ended, e.how, e.byClient = now, how, true
		})
		c.shut(how, true)
	}
}

// endHeld ends what hangs on c, and c with it.
func (c *conn) endHeld(held *entry, how outcome, byClient bool) {
	c.l.stats.hung.Add(-1)
	now := c.p.clock.now()
	c.l.stats.ended(held.mode, how, byClient)
	if held.isRequest {
		c.p.ledger.update(held, func(e *entry) {
			e.ended, e.how, e.byClient, e.final = now, how, byClient, true
		})
	}
	c.close(how, byClient)
}

// sweep is called by the sweeper: it ends what has lasted too long. lookups is
// how often the kernel's table may still be asked in this round.
func (c *conn) sweep(now int64, lookups *int) {
	if w := c.writing.Load(); w != 0 && c.isStuck(now, w) {
		_ = c.tcp.SetDeadline(time.Unix(1, 0))
	}
	if *lookups > 0 && c.fullOfUnread() {
		*lookups--
		gone := c.peerClosed()
		c.mu.Lock()
		if gone && !c.over && c.watch == watchEnd {
			c.leaves(closed)
			return
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	switch {
	case c.over:
	case c.watch != watchNone && c.until != 0 && now > c.until:
		held, lingering := c.held, c.lingering
		c.held = nil
		c.mu.Unlock()
		switch {
		case held != nil:
			c.endHeld(held, expired, false)
		case lingering:
			c.close(closed, false)
		default:
			c.close(idle, false)
		}
		return
	case c.waiting != 0 && !c.poked && now-c.waiting > int64(parkAfter):
		c.poked = true
		_ = c.tcp.SetReadDeadline(time.Unix(1, 0))
	}
	c.mu.Unlock()
}

// fullOfUnread says whether c is not being read and so much waits unread that a
// FIN may be stuck behind it.
func (c *conn) fullOfUnread() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.over && c.watch == watchEnd && c.unread() >= fullAt
}

// fullAt is how many unread bytes may fill a window. Connections with less are
// not looked up, which would cost too much for thousands.
const fullAt = 16 << 10
