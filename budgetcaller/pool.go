package budgetcaller

import (
	"sync"
	"sync/atomic"
	"time"
)

// pool keeps the connections of a Caller, by route.
type pool struct {
	perHost int
	idleFor time.Duration

	closed atomic.Bool // changes under mu only

	mu     sync.Mutex
	hosts  map[route]*hostPool
	reaper *time.Timer // set while anything is idle
}

// hostPool is the part of a pool that leads to one place. Its fields are
// guarded by pool.mu.
type hostPool struct {
	pool    *pool
	route   route
	open    int     // connections in use, idle, or being made
	idle    []*conn // the latest used last
	waiters []*waiter
}

// waiter is one attempt that waits for a connection.
type waiter struct {
	ready chan struct{} // closed when it got one
	conn  *conn         // the connection it got; nil: leave to make one
}

func (p *pool) host(r route) *hostPool {
	h := p.hosts[r]
	if h == nil {
		h = &hostPool{pool: p, route: r}
		p.hosts[r] = h
	}
	return h
}

// get returns an idle connection, or nil with leave to make one, or a waiter
// that will be told. It is false if the pool is closed.
func (p *pool) get(r route) (*hostPool, *conn, *waiter, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return nil, nil, nil, false
	}
	h := p.host(r)
	if n := len(h.idle); n > 0 {
		c := h.idle[n-1]
		h.idle = h.idle[:n-1]
		return h, c, nil, true
	}
	if h.open < p.perHost {
		h.open++
		return h, nil, nil, true
	}
	w := &waiter{ready: make(chan struct{})}
	h.waiters = append(h.waiters, w)
	return h, nil, w, true
}

// leave takes w out of the line, and reports whether it got something meanwhile
// that it must now give back.
func (h *hostPool) leave(w *waiter) bool {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	for i, other := range h.waiters {
		if other == w {
			h.waiters = append(h.waiters[:i], h.waiters[i+1:]...)
			h.forget()
			return false
		}
	}
	return true
}

// put takes back a connection that is fit for another request.
func (h *hostPool) put(c *conn) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := h.next(); w != nil {
		w.conn = c
		close(w.ready)
		return
	}
	if p.closed.Load() {
		h.open--
		c.abort()
		return
	}
	c.idleSince = time.Now()
	h.idle = append(h.idle, c)
	if p.reaper == nil {
		p.reaper = time.AfterFunc(p.idleFor, p.reap)
	}
}

// drop notes that a connection is gone, or was never made.
func (h *hostPool) drop() {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if w := h.next(); w != nil {
		close(w.ready) // the place is its own now
		return
	}
	h.open--
	h.forget()
}

func (h *hostPool) next() *waiter {
	if len(h.waiters) == 0 {
		return nil
	}
	w := h.waiters[0]
	h.waiters = h.waiters[1:]
	return w
}

// forget drops a host that nothing leads to any more, so that a caller of many
// hosts does not grow for ever.
func (h *hostPool) forget() {
	if h.open == 0 && len(h.waiters) == 0 && h.pool.hosts[h.route] == h {
		delete(h.pool.hosts, h.route)
	}
}

// reap closes what has been idle for too long and sets itself to come again
// while anything is left.
func (p *pool) reap() { p.closeIdle(time.Now().Add(-p.idleFor)) }

// closeIdle closes what is idle since old or before.
func (p *pool) closeIdle(old time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaper != nil {
		p.reaper.Stop()
		p.reaper = nil
	}
	next := time.Duration(0)
	for _, h := range p.hosts {
		kept := h.idle[:0]
		for _, c := range h.idle {
			if p.closed.Load() || !c.idleSince.After(old) {
				h.open--
				c.abort()
				continue
			}
			kept = append(kept, c)
			if left := c.idleSince.Sub(old); next == 0 || left < next {
				next = left
			}
		}
		clear(h.idle[len(kept):])
		h.idle = kept
		h.forget()
	}
	if next > 0 {
		p.reaper = time.AfterFunc(next, p.reap)
	}
}

// close closes all that is idle; what is in use is closed when it comes back.
func (p *pool) close() {
	p.mu.Lock()
	p.closed.Store(true)
	if p.reaper != nil {
		p.reaper.Stop()
	}
	p.mu.Unlock()
	p.reap()
}

func (p *pool) isClosed() bool { return p.closed.Load() }
