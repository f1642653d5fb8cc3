package faults

// keptPart is the part of all places for connections that is kept for single
// listeners: of an eighth each has an equal share for itself, so that one full of
// connections that hang does not close the others.
const keptPart = 8

// ownPlaces is how many connections each listener may always hold.
func (p *Partner) ownPlaces() int { return p.cfg.MaxConns / keptPart / len(p.cfg.Listeners) }

// remember gives c its number. It returns false if there are too many already.
func (p *Partner) remember(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	c.id = p.last
	p.conns[c.id] = c
	own := p.ownPlaces()
	if c.l.holds++; c.l.holds <= own {
		return true
	}
	p.beyond++
	return p.beyond <= p.cfg.MaxConns-own*len(p.cfg.Listeners)
}

// forget gives c's place to others. It may be called more than once.
func (p *Partner) forget(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns[c.id] == nil {
		return
	}
	delete(p.conns, c.id)
	if c.l.holds > p.ownPlaces() {
		p.beyond--
	}
	c.l.holds--
}
