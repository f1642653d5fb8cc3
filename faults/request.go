package faults

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"chaoslab/budgetcaller/deadline"
)

// readHead reads the request's head. An error with status 0 means that the
// client ended it; any other is answered with the status: 505 for a major version
// other than 1 (RFC 9112, 2.3). A request with both a Content-Length and a
// Transfer-Encoding is served by the latter, and its connection closed after the
// answer (RFC 9112, 6.1).
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
	// RFC 9112, 6.1: what has both lengths goes by its Transfer-Encoding alone, as
	// net/http has it; what a 1.0 client has encoded is not understood. In either
	// case others may see the end elsewhere, so nothing more is taken from there.
	x.close = req.Close || c.head.faulty(req.ProtoMinor)
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
	x.e.timeoutMS, x.e.hasTimeout = number(h[deadline.HeaderTimeout])
	x.e.deadline, x.e.hasDeadline = number(h[deadline.HeaderDeadline])
	if n, _ := number(h["X-Request-Attempt"]); n == int64(int32(n)) {
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

// number reads a header that is one whole number. It returns 0 and false for
// anything else.
func number(values []string) (int64, bool) {
	n, reading := deadline.Parse(values)
	return n, reading == deadline.Read
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
