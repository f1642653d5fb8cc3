package faults

import "time"

// A change of faults, or of stage, also concerns the connections that are there
// already: a port that is refused answers nobody any more, and a fault that hits
// connections when they are accepted can only hit new ones. Idle connections are
// closed at once; busy ones at their next request: without an answer if it is the
// port, and with their answer otherwise.

// outdates says whether a connection accepted at time accepted comes from before
// a fault that hits connections at t.
func (p *plan) outdates(accepted int64, t time.Duration) bool {
	if !p.atAccept {
		return false
	}
	hits, taken, since := false, false, time.Duration(0)
	for i, s := range p.specs {
		if p.active(i, t) && !taken {
			hits = hits || s.Level() == LevelConnection
			taken = s.hitsAll()
		}
		if end := p.started[i] + s.span; s.span > 0 && end <= t {
			since = max(since, end)
		}
	}
	return hits && accepted < p.begun+int64(since)
}

// unwanted says whether c is to be closed if it is idle.
func (l *listener) unwanted(c *conn) bool {
	p := l.plan.Load()
	t := time.Duration(l.p.clock.now() - p.begun)
	return p.portSpec(t) != nil || p.outdates(c.accepted, t)
}

// endIdle closes the connections that wait for a request and are not wanted any
// more.
func (l *listener) endIdle() {
	for _, c := range l.p.all(nil) {
		if c.l == l && l.unwanted(c) {
			c.closeIdle()
		}
	}
}

// closeIdle closes c if it waits for a request.
func (c *conn) closeIdle() {
	c.mu.Lock()
	isIdle := c.watch == watchIdle
	if isIdle {
		c.watch = watchNone // nobody begins to serve it now
		c.p.parker.remove(c)
	}
	c.mu.Unlock()
	if isIdle {
		c.close(closed, false)
	}
}
