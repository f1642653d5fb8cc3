package budgetcaller

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"time"
)

// open gets a connection for the attempt, from the pool or new, and lends it.
func (a *attempt) open() (*conn, *Record) {
	p := &a.caller.pool
	for {
		h, c, w, ok := p.get(a.route)
		if !ok {
			return nil, a.finish(ClassCanceled, LimitNone, ErrClosed)
		}
		if w != nil {
			if c, ok = a.await(h, w); !ok {
				return nil, a.finish(ClassCanceled, LimitNone, nil)
			}
		}
		if c == nil {
			return a.dialInto(h)
		}
		if !c.fit() {
			c.abort()
			h.drop()
			continue // no byte was written: this was no attempt
		}
		if !a.hold(func() { a.conn = c }) {
			h.put(c)
			return nil, a.finish(ClassCanceled, LimitNone, nil)
		}
		a.rec.Reused = true
		c.lend(a)
		return c, nil
	}
}

// await waits in phase pool for a connection or for leave to make one (nil).
func (a *attempt) await(h *hostPool, w *waiter) (*conn, bool) {
	a.marks[PhasePool].Store(a.span.now())
	wake := make(chan struct{})
	if a.hold(func() { a.wake = wake }) {
		select {
		case <-w.ready:
			a.hold(func() { a.wake = nil })
			return w.conn, true
		case <-wake:
		}
	}
	if h.leave(w) {
		<-w.ready
		if w.conn != nil {
			h.put(w.conn)
		} else {
			h.drop()
		}
	}
	return nil, false
}

// dialInto makes a new connection in the place that the pool has given.
func (a *attempt) dialInto(h *hostPool) (*conn, *Record) {
	a.place = h // finish gives it back, unless a connection takes it over
	tcp, rec := a.connect()
	if rec != nil {
		return nil, rec
	}
	c := newConn(h, tcp)
	c.user = a
	a.rec.Local, a.rec.Remote = c.local, c.remote
	if !a.hold(func() { a.conn, a.place = c, nil }) {
		c.abort()
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	if a.route.via != "" && a.route.tls {
		if err := a.tunnel(c); err != nil {
			class, limit := ClassUnreachable, LimitNone
			if c.how() == endReset {
				class = ClassReset
			}
			return nil, a.finish(class, limit, err)
		}
	}
	if a.route.tls {
		if rec := a.secure(c); rec != nil {
			return nil, rec
		}
	}
	c.lend(a)
	return c, nil
}

// secure performs the TLS handshake.
func (a *attempt) secure(c *conn) *Record {
	if !a.enter(PhaseTLS) {
		return a.finish(ClassCanceled, LimitNone, nil)
	}
	err := c.startTLS(a.caller.tlsConfig(a.route.host))
	if err == nil {
		return nil
	}
	if c.how() == endReset || c.writeFailed() || isReset(err) {
		return a.finish(ClassReset, LimitNone, err)
	}
	return a.finish(ClassTLSFailed, LimitNone, err)
}

// exchange sends the request and reads the head of the answer. It returns a
// record if the attempt is over, and neither if the connection was dead before
// a byte was written, so that there was no attempt yet.
func (a *attempt) exchange(c *conn) (*http.Response, *Record) {
	a.rec.Nth, a.rec.Local, a.rec.Remote = c.nth, c.local, c.remote
	if !a.enter(PhaseRequest) {
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	req, ok := a.told(time.Now())
	if !ok {
		return nil, a.finish(ClassBudgetExhausted, LimitBudget, nil)
	}
	if hasBody(req) && !smallBody(req) {
		a.startUpload(c, req)
	} else {
		if headSize(req) > smallRequest {
			a.rearm() // writing it may take its time
		}
		err := a.write(c, req)
		if err != nil && !c.writeFailed() {
			return nil, a.finish(ClassCanceled, LimitNone, err) // it cannot be written at all
		}
		a.handedOver(c)
	}
	a.rearm()
	resp, err := a.readHead(c)
	if err != nil {
		if a.retract(c) {
			return nil, nil
		}
		a.settle()
		class, limit := c.endClass(err)
		return nil, a.finish(class, limit, err)
	}
	if !a.enter(PhaseBody) {
		return nil, a.finish(ClassCanceled, LimitNone, nil)
	}
	a.noteHead(resp)
	c.reusable = !resp.Close && !a.req.Close && resp.StatusCode != http.StatusSwitchingProtocols
	return resp, nil
}

// retract takes back a request of which no byte could be written, because its
// connection had died while idle: that was no attempt, another connection is
// taken. A request whose body cannot be had again stays what it is.
func (a *attempt) retract(c *conn) bool {
	if !a.rec.Reused || c.wrote.Load() > 0 || a.verdict.load().decided() {
		return false
	}
	if hasBody(a.req) && a.req.GetBody == nil {
		return false
	}
	c.abort()
	if a.upload != nil {
		a.upload.end()
		if c.wrote.Load() > 0 {
			return false // it was just about to
		}
	}
	if hasBody(a.req) {
		body, err := a.req.GetBody()
		if err != nil {
			return false
		}
		clone := *a.req
		clone.Body = body
		a.req = &clone
	}
	taken := false
	a.hold(func() {
		if taken = a.verdict.restart(); taken {
			a.conn, a.upload, a.sending = nil, nil, sending{}
		}
	})
	if !taken {
		return false // decided meanwhile: finish gives the place back
	}
	a.marks[PhaseRequest].Store(0)
	a.marks[PhaseFirstByte].Store(0)
	a.hearing.sentAt.Store(0)
	a.handed.Store(false)
	a.rec.Reused, a.rec.Nth = false, 0
	a.rec.Local, a.rec.Remote = netip.AddrPort{}, netip.AddrPort{}
	c.pool.drop()
	return true
}

// write puts the request on the wire.
func (a *attempt) write(c *conn, req *http.Request) error {
	var err error
	if a.route.absolute() {
		err = throughProxy(req, a.route.via).WriteProxy(c.bw)
	} else {
		err = req.Write(c.bw)
	}
	if err != nil {
		return err
	}
	return c.bw.Flush()
}

// handedOver notes that the whole request is with the system. What fits any
// partner's first window counts as taken with that; of more, the watchdog finds
// out when it is.
func (a *attempt) handedOver(c *conn) {
	a.handed.Store(true)
	if c.wrote.Load() <= smallRequest || c.taken().queued == 0 {
		a.allSent(a.span.now())
	}
}

// headSize is about how long the head of req is.
func headSize(req *http.Request) int {
	n := len(req.URL.Path) + len(req.URL.RawQuery)
	for name, values := range req.Header {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}

func hasBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

// readHead reads heads until the final one. A 1xx is not the answer
// (RFC 9110, section 15.2); 101 is, as nothing of HTTP follows it.
func (a *attempt) readHead(c *conn) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(c.br, a.req)
		if c.headLength() > a.caller.maxHead {
			return nil, errHeadTooLong // the parser would call it something else
		}
		if err != nil {
			return nil, briefError{err}
		}
		if resp.StatusCode < 100 {
			return nil, errBadStatus
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
}

func (a *attempt) noteHead(resp *http.Response) {
	rec := a.rec
	rec.Status = resp.StatusCode
	rec.RetryAfter = resp.Header.Get("Retry-After")
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		rec.Location = resp.Header.Get("Location")
	}
	rec.Expected = resp.ContentLength
	if methodOf(a.req) == http.MethodHead {
		rec.Expected = 0 // it announces what a GET would bring
	}
}

// tlsConfig returns the configuration for a handshake with host.
func (c *Caller) tlsConfig(host string) *tls.Config {
	cfg := c.tls.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = host
	}
	return cfg
}
