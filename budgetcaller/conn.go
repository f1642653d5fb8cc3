package budgetcaller

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// conn is one connection, used by one attempt at a time. It is three layers:
// the TCP connection, whose reads tell the watchdog what was heard; TLS, if
// there is any; and above it the bytes that are HTTP.
type conn struct {
	pool *hostPool
	tcp  net.Conn
	raw  syscall.RawConn // nil where the system gives none
	app  net.Conn        // tcp or the TLS connection over it
	br   *bufio.Reader
	bw   *bufio.Writer

	local, remote netip.AddrPort
	nth           int       // requests begun on it
	idleSince     time.Time // set while it is in the pool

	// Of the attempt that uses it now.
	user     *attempt
	filled   int64 // bytes read above TLS, what br still holds included
	heard    int   // bytes of the answer's start kept in first
	first    [5]byte
	ended    error      // how reading ended below TLS, nil if it did not
	appEnded error      // how reading ended above TLS
	writing  sync.Mutex // a write and the noting of its error are one
	writeErr atomic.Pointer[error]
	wrote    atomic.Int64 // bytes written above TLS
	probing  bool         // reads must not touch the socket
	reusable bool         // the answer ended whole and the partner keeps the connection
	aborted  atomic.Bool
	closing  sync.Once
}

// bufferSize is that of the read and the write buffer of a connection.
const bufferSize = 4 << 10

// errBadStatus ends the reading of a head with a status below 100, which is
// none (RFC 9110, section 15).
var errBadStatus = errors.New("the status is below 100")

// errHeadTooLong ends the reading of a head without an end.
var errHeadTooLong = errors.New("head of the answer is longer than the bound")

func newConn(p *hostPool, tcp net.Conn) *conn {
	c := &conn{pool: p, tcp: tcp, local: addrPort(tcp.LocalAddr()), remote: addrPort(tcp.RemoteAddr())}
	if sc, ok := tcp.(syscall.Conn); ok {
		c.raw, _ = sc.SyscallConn() // fails only on a closed socket: then reads say so
	}
	c.app = heardConn{tcp, c}
	c.br = bufio.NewReaderSize(appReader{c}, bufferSize)
	c.bw = bufio.NewWriterSize(appWriter{c}, bufferSize)
	return c
}

// startTLS performs the handshake. It is cut like all else: by closing the TCP
// connection under it.
func (c *conn) startTLS(cfg *tls.Config) error {
	t := tls.Client(c.app, cfg)
	if err := t.Handshake(); err != nil {
		return err
	}
	c.app = t
	return nil
}

// lend hands the connection to a for one request.
func (c *conn) lend(a *attempt) {
	c.user = a
	c.nth++
	c.filled, c.heard, c.ended, c.appEnded, c.reusable = 0, 0, nil, nil, false
	c.writeErr.Store(nil)
	c.wrote.Store(0)
}

// abort closes the TCP connection at once, without TLS' farewell, which would
// wait for the partner. Pending reads and writes end. It may be called at any
// time, by anyone but a reader or writer of it, and more than once: whenever it
// returns, the connection is gone.
func (c *conn) abort() {
	c.aborted.Store(true)
	c.closing.Do(func() { _ = c.tcp.Close() })
}

// release gives the connection back to its pool after a clean end, or closes it,
// and reports whether the pool has it.
func (c *conn) release(clean bool) bool {
	keep := clean && c.reusable && !c.aborted.Load() && c.br.Buffered() == 0
	if !keep {
		// user stays: a reader of the user's that ignores its closing may still
		// be behind the writer.
		c.abort()
		c.pool.drop()
		return false
	}
	c.user = nil
	c.pool.put(c)
	return true
}

// heardConn is the connection below TLS: it notes when a read is pending and
// how reading and writing ended.
type heardConn struct {
	net.Conn
	c *conn
}

func (h heardConn) Read(p []byte) (int, error) {
	if h.c.probing {
		return 0, errProbe
	}
	a := h.c.user
	a.hearing.readFrom.Store(a.span.now())
	n, err := h.Conn.Read(p)
	a.hearing.readFrom.Store(0)
	if err != nil && h.c.ended == nil {
		h.c.ended = err // a parser may read again after a RST, and then hear EOF
	}
	return n, err
}

func (h heardConn) Write(p []byte) (int, error) {
	h.c.writing.Lock()
	defer h.c.writing.Unlock()
	n, err := h.Conn.Write(p)
	if err != nil {
		failed := err // a copy, so that a write that succeeds allocates nothing
		h.c.writeErr.CompareAndSwap(nil, &failed)
	}
	return n, err
}

// appReader reads what is HTTP: it notes the first byte and bounds the head.
type appReader struct{ c *conn }

func (r appReader) Read(p []byte) (int, error) {
	c := r.c
	n, err := c.app.Read(p)
	if n > 0 && c.user.verdict.load().phase < PhaseHead {
		c.user.enter(PhaseHead)
	}
	if c.heard < len(c.first) {
		c.heard += copy(c.first[c.heard:], p[:n])
	}
	c.filled += int64(n)
	if err != nil && c.appEnded == nil {
		c.appEnded = err
	}
	// br may hold some of the body too, so this is not exact: headLength is.
	if c.user.verdict.load().phase < PhaseBody && c.filled > c.user.caller.maxHead+bufferSize {
		return n, errHeadTooLong
	}
	return n, err
}

// headLength is how much the parser has taken of the answer so far.
func (c *conn) headLength() int64 { return c.filled - int64(c.br.Buffered()) }

// appWriter writes what is HTTP: it notes that the request has begun to leave.
type appWriter struct{ c *conn }

func (w appWriter) Write(p []byte) (int, error) {
	c := w.c
	c.user.sent.Store(true)
	n, err := c.app.Write(p)
	if c.wrote.Add(int64(n)) == 0 {
		c.user.sent.Store(false)
	}
	return n, err
}

func addrPort(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		ap := t.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}
