package budgetcaller

import (
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
)

// spokeHTTP reports whether what was heard so far can be the start of HTTP.
func (c *conn) spokeHTTP() bool { return string(c.first[:c.heard]) == "HTTP/"[:c.heard] }

// endClass is the class of an answer that ended before it was whole, after err
// came from the parser.
func (c *conn) endClass(err error) (Class, Limit) {
	switch end := c.how(); {
	case end == endReset:
		return ClassReset, LimitNone
	case end == endKernel:
		return ClassReadTimeout, LimitKernel
	case c.heard == 0 && isHandshakeAlert(c.appEnded):
		return ClassTLSFailed, LimitNone
	case end == endClosed && c.heard == 0:
		return ClassClosed, LimitNone
	case end == endClosed && c.spokeHTTP() && !errors.Is(err, errHeadTooLong):
		return ClassTruncated, LimitNone
	}
	return ClassMalformed, LimitNone
}

// end is how the reading of a connection ended.
type end uint8

const (
	endNot    end = iota // it did not: the bytes themselves were wrong
	endClosed            // an orderly end
	endReset             // a RST, or the network gave the connection up
	endKernel            // the system's own retransmits ran out
)

func (c *conn) how() end {
	switch {
	case c.ended == nil && (errors.Is(c.appEnded, io.EOF) || alertOf(c.appEnded) != 0):
		return endClosed // TLS said goodbye
	case c.ended == nil:
		return endNot
	case errors.Is(c.ended, io.EOF) && c.writeReset():
		return endReset // the writer was told, and nothing is left to read
	case errors.Is(c.ended, io.EOF):
		return endClosed
	case isTimedOut(c.ended):
		return endKernel
	}
	return endReset
}

func (c *conn) writeFailed() bool { return c.writeErr.Load() != nil }

// writeReset reports whether a write was ended by a RST. After an orderly end
// of the partner's side Linux says EPIPE instead. The system tells of a RST once:
// if it told a writer that has not come back yet, that one is waited for.
func (c *conn) writeReset() bool {
	if c.dead() {
		c.writing.Lock()
		defer c.writing.Unlock()
	}
	err := c.writeErr.Load()
	return err != nil && isReset(*err) && !isBrokenPipe(*err)
}

// briefError is an error of a parser that quotes what it could not read: all of
// it, which may be a megabyte.
type briefError struct{ error }

// mostQuoted is how much of an error's text is kept.
const mostQuoted = 200

// Error returns the beginning of the text, with what is not text made visible.
func (e briefError) Error() string {
	text := e.error.Error()
	if len(text) > mostQuoted {
		text = text[:mostQuoted] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

func (e briefError) Unwrap() error { return e.error }

// alertOf is the number of the TLS alert that the partner sent (RFC 8446,
// section 6), 0 if err is none. crypto/tls keeps the type to itself, but says
// that it came from the partner.
func alertOf(err error) uint64 {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return 0
	}
	if v := reflect.ValueOf(op.Err); v.Kind() == reflect.Uint8 {
		return v.Uint()
	}
	return 0
}

// isHandshakeAlert reports that the partner refused the handshake. In TLS 1.3
// that may come after ours is done and the request sent: a certificate that it
// wanted and did not get, say. It has then read none of the request.
func isHandshakeAlert(err error) bool {
	switch n := alertOf(err); {
	case n >= 40 && n <= 49, n == 70, n == 71, n == 86, n >= 109 && n <= 116, n == 120:
		return true
	}
	return false
}
