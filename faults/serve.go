package faults

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
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

// handshake makes the TLS handshake, once.
func (c *conn) handshake() bool {
	if c.tls.ConnectionState().HandshakeComplete {
		return true
	}
	c.deadline(c.tcp.SetDeadline, c.p.cfg.ReadTimeout)
	err := c.tls.Handshake()
	if err != nil {
		c.tellPlain(err)
		c.close(tlsFailed, false)
		return false
	}
	c.deadline(c.tcp.SetDeadline, 0)
	return true
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

// readHead reads the request's head. An error with status 0 means that the
// client ended it; any other is answered with the status.
func (x *Exchange) readHead(br *bufio.Reader) (int, error) {
	c := x.c
	c.readErr = nil
	buffered, _ := br.Peek(br.Buffered())
	if !bytes.Contains(buffered, []byte("\r\n\r\n")) {
		// Only a head that does not come in one piece pays for a deadline.
		c.deadline(c.tcp.SetReadDeadline, c.p.cfg.ReadTimeout)
		defer c.deadline(c.tcp.SetReadDeadline, 0)
	}
	c.head = headLines{within: true, empty: true}
	if !c.head.scan(buffered) {
		return http.StatusRequestHeaderFieldsTooLarge, errTooManyLines
	}
	req, err := http.ReadRequest(br)
	c.head.within = false
	switch {
	case err == nil:
	case c.readErr == nil:
		return http.StatusBadRequest, errors.New("this is not an HTTP request")
	case errors.Is(c.readErr, errHeadTooLong), errors.Is(c.readErr, errTooManyLines):
		return http.StatusRequestHeaderFieldsTooLarge, c.readErr
	case errors.Is(c.readErr, os.ErrDeadlineExceeded) && !c.p.isStopping():
		return http.StatusRequestTimeout, errors.New("the request head took too long")
	default:
		return 0, c.readErr
	}
	if req.ProtoMajor != 1 {
		return http.StatusHTTPVersionNotSupported, errors.New("only HTTP/1.0 and HTTP/1.1 are spoken here")
	}
	if req.ProtoMinor > 0 && req.Host == "" {
		return http.StatusBadRequest, errors.New("the Host header is missing") // RFC 9112, 3.2
	}
	x.req = req
	x.close = req.Close
	x.e.method, x.e.path = keepMethod(req.Method), clip(req.URL.Path, 256)
	return x.readHeaders(req.Header)
}

// readHeaders notes the headers that the ledger tells about.
func (x *Exchange) readHeaders(h http.Header) (int, error) {
	if v := h["Idempotency-Key"]; len(v) > 0 {
		if len(v) > 1 || len(v[0]) > maxKey {
			return http.StatusBadRequest, errors.New("one Idempotency-Key of at most 255 bytes is allowed")
		}
		x.e.key = v[0]
	}
	x.e.timeoutMS = number(h["X-Request-Timeout-Ms"])
	x.e.deadline = number(h["X-Request-Deadline"])
	if n := number(h["X-Request-Attempt"]); n == float64(int32(n)) {
		x.e.attempt = int32(n)
	}
	if v := h["Expect"]; len(v) > 0 {
		if len(v) > 1 || !strings.EqualFold(v[0], "100-continue") {
			return http.StatusExpectationFailed, errors.New("only Expect: 100-continue is known")
		}
		x.expects = x.req.ProtoMinor > 0 && x.req.Body != http.NoBody
	}
	return 0, nil
}

// number reads a header that is one whole number, and is 0 for anything else.
func number(values []string) float64 {
	if len(values) != 1 {
		return 0
	}
	n, err := strconv.ParseInt(values[0], 10, 32+16)
	if err != nil {
		return 0
	}
	return float64(n)
}

// choose picks the fault: the one the request asks for, or the listener's.
func (x *Exchange) choose() (*Spec, error) {
	p := x.c.l.plan.Load()
	x.plan = p
	t := time.Duration(x.c.p.clock.now() - p.begun)
	if s := p.portSpec(t); s != nil {
		return s, nil
	}
	x.close = x.close || p.outdates(x.c.accepted, t)
	x.e.number = p.requests.Add(1)
	if !x.c.p.cfg.NoPerRequest {
		text, err := x.asked()
		if err != nil {
			return nil, err
		}
		if text != "" {
			return x.c.p.cfg.Modes.perRequest(text)
		}
	}
	return p.request(x.e.number, time.Duration(x.e.begun-p.begun)), nil
}

func (m Modes) perRequest(text string) (*Spec, error) {
	s, err := m.Parse(text)
	switch {
	case err != nil:
		return nil, err
	case s.Level() != LevelRequest:
		return nil, errors.New(s.String() + " cannot be asked for by a request: it acts before there is one")
	case s.behavior.custom:
		return nil, errors.New(s.Name() + " cannot be asked for by a request: it would reach further than this port")
	case s.when != When{} || s.span != 0:
		return nil, errors.New(s.Name() + ": when and for cannot be asked for by a request")
	case s.behavior.counts:
		return nil, errors.New(s.String() + " cannot be asked for by a request: it counts those of its listener")
	}
	return &s, nil
}

// copyBuffer is what bodies are read through.
const copyBuffer = 16 << 10

var errBodyTooLong = errors.New("request body too long")

// drainBody reads the request's body to its end and throws it away.
func (x *Exchange) drainBody() (int, error) {
	if x.req.Body == http.NoBody || x.bodyDone {
		return 0, nil
	}
	if err := x.continue100(); err != nil {
		return 0, err
	}
	c := x.c
	buf := c.p.buffers.Get().(*[copyBuffer]byte)
	defer c.p.buffers.Put(buf)
	start := c.p.clock.now()
	c.readErr = nil
	for {
		c.headLeft = 1 << 62
		c.deadline(c.tcp.SetReadDeadline, c.p.cfg.ReadTimeout)
		n, err := x.req.Body.Read(buf[:])
		x.e.body += int64(n)
		switch {
		case err == io.EOF:
			x.bodyDone = true
			c.deadline(c.tcp.SetReadDeadline, 0)
			return 0, nil
		case err != nil && c.readErr == nil:
			return http.StatusBadRequest, errors.New("the request body is not well chunked")
		case errors.Is(err, os.ErrDeadlineExceeded) && !c.p.isStopping():
			return http.StatusRequestTimeout, errors.New("the request body took too long")
		case err != nil:
			return 0, c.readErr
		case x.e.body > c.p.cfg.MaxBody:
			return http.StatusRequestEntityTooLarge, errBodyTooLong
		case c.p.clock.now()-start > int64(maxBodyTime):
			return http.StatusRequestTimeout, errors.New("the request body took too long")
		}
	}
}

// continue100 tells a client that waits for it to send its body.
func (x *Exchange) continue100() error {
	if !x.expects {
		return nil
	}
	x.expects = false
	_, err := x.c.stream.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err
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
