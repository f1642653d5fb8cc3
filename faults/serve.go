package faults

import (
	"bufio"
	"net/http"
)

// serve reads and answers requests until the connection is parked or over.
func (c *conn) serve() {
	if c.tls != nil && !c.handshake() {
		return
	}
	br := c.p.readers.Get().(*bufio.Reader)
	br.Reset(c)
	defer func() {
		br.Reset(nil)
		c.p.readers.Put(br)
	}()
	peek := func() error {
		c.headLeft = maxHead
		_, err := br.Peek(1)
		return err
	}
	for {
		if br.Buffered() > 0 {
			c.headLeft = maxHead - int64(br.Buffered())
		} else if !c.await(peek) {
			return
		}
		x := c.p.exchanges.Get().(*Exchange)
		x.begin(c, c.p.clock.now())
		again := x.run(br)
		x.release()
		if !again {
			return
		}
	}
}

// run reads one request, lets its fault act, and ends it. It returns whether
// another request may follow on the connection here and now.
func (x *Exchange) run(br *bufio.Reader) bool {
	if status, err := x.readHead(br); err != nil {
		return x.refuse(status, err)
	}
	spec, err := x.choose()
	if err != nil {
		return x.refuse(http.StatusBadRequest, err)
	}
	x.spec = spec
	x.e.mode = spec.fault.index
	x.slot = x.c.p.ledger.begin(&x.e)
	x.c.l.stats.received.Add(1)
	if spec.Level() == LevelPort {
		x.e.whole = x.c.p.clock.now()
		x.endFIN(closed)
		return x.finish()
	}
	if !spec.behavior.ownBody {
		if status, err := x.drainBody(); err != nil {
			return x.refuse(status, err)
		}
	}
	x.e.whole = x.c.p.clock.now()
	if spec.early {
		x.act(http.StatusOK, defaultSize)
	}
	spec.behavior.request(x)
	if x.wrong != nil {
		x.c.endWatch()
		if !x.wasShut() {
			return x.refuse(x.wrongStatus, x.wrong)
		}
	}
	return x.finish()
}

// refuse ends a request that is none, or broke a bound: with an answer that
// says why, unless the client has ended it.
func (x *Exchange) refuse(status int, err error) bool {
	c := x.c
	if status == 0 {
		how, byClient := blame(err)
		if c.p.isStopping() {
			how, byClient = stopped, false
		}
		if x.slot != nil {
			x.e.ended, x.e.how, x.e.byClient = c.p.clock.now(), how, byClient
			if byClient {
				c.countLeft()
			}
			x.publishFinal()
		}
		c.close(how, byClient)
		return false
	}
	if x.slot == nil {
		c.l.stats.received.Add(1)
		x.e.mode = c.l.plan.Load().first()
		x.slot = c.p.ledger.begin(&x.e)
	}
	x.e.whole = c.p.clock.now()
	x.close = true
	text := err.Error() + "\n"
	x.writeHead(answer{status: status, size: int64(len(text)), kind: "text/plain; charset=utf-8"})
	if x.e.method != http.MethodHead {
		x.buf = append(x.buf, text...)
	}
	x.flush()
	x.e.ended, x.e.how = c.p.clock.now(), badRequest
	x.publishFinal()
	c.linger(badRequest)
	return false
}
