package faults

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is one accepted connection. While a request is read and answered a
// goroutine owns it; while nothing is expected of the partner but to wait, the
// parker does, and all that is kept is this.
type conn struct {
	p        *Partner
	l        *listener
	tcp      *net.TCPConn
	stream   io.ReadWriter // what requests are read from: the TLS side, or rawSide
	tls      *tls.Conn
	fd       int
	id       uint64
	remote   netip.AddrPort
	local    netip.AddrPort
	accepted int64
	slot     *entry // in the ledger

	parked

	nth     atomic.Int32 // how many requests have begun
	writing atomic.Int64 // when the write under way began; 0: none

	answering atomic.Int64 // when the first write of the answer began; 0: there was none
	took      taking

	// Of the serving goroutine alone.
	headLeft int64 // bytes that the head may still take
	head     headLines
	readErr  error // of the last read: what a parser makes of it may hide it

	mu         sync.Mutex
	over       bool // closed
	worksOn    bool // closed, and a goroutine still works on its request
	counted    bool // that the client left
	lingering  bool // our end was sent, the client's is awaited
	registered bool // known to the parker
	watch      watch
	poked      bool   // its read was broken off to park it
	overflow   bool   // bytes of a later request were lost
	waiting    int64  // since when the goroutine waits for a request; 0: it does not
	until      int64  // when a parked connection is ended
	saved      []byte // read ahead by the parker
	held       *entry // the request, or connection, that hangs here without a goroutine
	current    *entry // the request being served
	left       int64  // when the client was seen to have left; 0: not
	leftHow    outcome
	gone       chan struct{} // closed when the client leaves, if somebody waits for it
}

// rawSide is the side of a connection towards the network.
type rawSide struct{ c *conn }

// Read gives first what the parker has read ahead.
func (r rawSide) Read(b []byte) (int, error) {
	c := r.c
	c.settle()
	c.mu.Lock()
	if len(c.saved) > 0 {
		n := copy(b, c.saved)
		if c.saved = c.saved[n:]; len(c.saved) == 0 {
			c.saved = nil
		}
		c.mu.Unlock()
		return n, nil
	}
	c.mu.Unlock()
	return c.tcp.Read(b)
}

// Write notes when it began, so that the sweeper can end one that nobody takes.
func (r rawSide) Write(b []byte) (int, error) {
	c := r.c
	c.writing.Store(c.p.clock.now())
	n, err := c.tcp.Write(b)
	c.writing.Store(0)
	return n, err
}

// tlsSide makes a net.Conn of rawSide, as crypto/tls wants one.
type tlsSide struct {
	*net.TCPConn
	raw rawSide
}

func (t tlsSide) Read(b []byte) (int, error)  { return t.raw.Read(b) }
func (t tlsSide) Write(b []byte) (int, error) { return t.raw.Write(b) }

var errHeadTooLong = errors.New("request head too long")

// Read implements io.Reader for the buffered reader of requests.
func (c *conn) Read(b []byte) (int, error) {
	if c.headLeft <= 0 {
		c.readErr = errHeadTooLong
		return 0, errHeadTooLong
	}
	if int64(len(b)) > c.headLeft {
		b = b[:c.headLeft]
	}
	n, err := c.stream.Read(b)
	c.headLeft -= int64(n)
	if !c.head.scan(b[:n]) {
		n, err = 0, errTooManyLines
	}
	c.readErr = err
	return n, err
}

// deadline sets a deadline to in from now, or none if in is 0, by one of the
// connection's own functions. It never takes back the one that stop has set: stop
// comes either before the look at isStopping or after the new deadline.
func (c *conn) deadline(set func(time.Time) error, in time.Duration) {
	at := time.Time{}
	if in > 0 {
		at = time.Now().Add(in)
	}
	_ = set(at) // an error shows at the next read
	if c.p.isStopping() {
		_ = set(time.Unix(1, 0))
	}
}

// parkAfter is how long a goroutine waits for the next request before the
// connection is parked: busy connections are spared the way through the parker.
const parkAfter = 200 * time.Millisecond

// await waits for the first byte of a request. It returns false if there will
// be none here: the connection was parked, or is over.
func (c *conn) await(peek func() error) bool {
	c.mu.Lock()
	if len(c.saved) == 0 {
		c.waiting = c.p.clock.now()
	}
	c.mu.Unlock()
	err := peek()
	c.mu.Lock()
	c.waiting = 0
	if c.poked {
		c.poked = false
		c.deadline(c.tcp.SetReadDeadline, 0)
	}
	c.mu.Unlock()
	switch {
	case err == nil:
		return true
	case errors.Is(err, os.ErrDeadlineExceeded) && !c.p.isStopping():
		switch {
		case !c.park(watchIdle, c.p.clock.now()+int64(c.p.cfg.IdleTimeout)):
			c.close(stopped, false)
		case c.l.unwanted(c):
			c.closeIdle()
		}
	default:
		c.closeFor(err)
	}
	return false
}

// closeFor closes c after a read or write that ended with err.
func (c *conn) closeFor(err error) {
	how, byClient := blame(err)
	if c.p.isStopping() {
		how, byClient = stopped, false
	}
	c.close(how, byClient)
}

// blame says how the client ended a connection on which err came up.
func blame(err error) (how outcome, byClient bool) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return closed, true
	case errors.Is(err, os.ErrDeadlineExceeded):
		return writeStuck, false
	}
	return reset, true
}

// close ends the connection, if it is not over. A connection that is to end
// with a RST was prepared by resetNow.
func (c *conn) close(how outcome, byClient bool) {
	c.shut(how, byClient)
	c.p.forget(c)
}

// shut is close for a connection whose request is still worked on: it keeps its
// place among those that there may be, so that this work is bounded too.
func (c *conn) shut(how outcome, byClient bool) {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.over = true
	c.watch = watchNone
	c.p.parker.remove(c)
	_ = c.tcp.Close()
	c.saved = nil
	c.mu.Unlock()
	c.l.stats.open.Add(-1)
	now := c.p.clock.now()
	c.p.ledger.update(c.slot, func(e *entry) {
		if e.ended == 0 { // else the cut itself was the end
			e.ended, e.how, e.byClient = now, how, byClient
		}
		e.nth, e.final = c.nth.Load(), true
	})
}

// countLeft counts that the client left before its request had ended, once.
func (c *conn) countLeft() {
	c.mu.Lock()
	first := !c.counted
	c.counted = true
	c.mu.Unlock()
	if first {
		c.l.stats.left.Add(1)
	}
}
