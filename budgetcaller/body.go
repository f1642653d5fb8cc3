package budgetcaller

import (
	"errors"
	"io"
	"net/http"
)

// errBodyClosed stands in the record of an attempt whose body was closed before
// its end.
var errBodyClosed = errors.New("the body was closed before its end")

// body is an answer's body as the caller reads it. The attempt lasts until it
// is read to its end, closed, or cut. It is not safe for concurrent use.
type body struct {
	a    *attempt
	conn *conn // nil with a stub
	resp *http.Response
	most int64   // bytes that are borne, 0: any number
	rec  *Record // set when the attempt is over
}

// errBodyTooLong ends the reading of a body beyond the bound.
var errBodyTooLong = errors.New("the body is longer than the bound")

// Read reads on. Its error is io.EOF only after a whole answer.
func (b *body) Read(p []byte) (int, error) {
	if b.rec != nil {
		return 0, b.end()
	}
	n, err := b.resp.Body.Read(p)
	b.a.rec.Bytes += int64(n)
	switch {
	case b.most > 0 && b.a.rec.Bytes > b.most:
		b.rec = b.a.finish(ClassMalformed, LimitNone, errBodyTooLong)
	case errors.Is(err, io.EOF) && b.whole():
		class := ClassOK
		if b.resp.StatusCode >= 400 {
			class = ClassStatus
		}
		b.rec = b.a.finish(class, LimitNone, nil)
	case err != nil:
		b.a.settle()
		class, limit := ClassTruncated, LimitNone
		if b.conn != nil {
			class, limit = b.conn.endClass(err)
		}
		b.rec = b.a.finish(class, limit, err)
	case b.a.verdict.load().decided():
		b.rec = b.a.finish(ClassCanceled, LimitNone, nil)
	default:
		return n, nil
	}
	return n, b.end()
}

// whole reports whether the end of the body is the end of the answer. Where only
// the end of the connection tells, a RST that the writer was told of is none,
// and neither is the end of a TLS connection without its close_notify (RFC 9112,
// section 9.8).
func (b *body) whole() bool {
	if b.conn == nil || b.conn.ended == nil {
		return true
	}
	b.a.settle()
	return b.conn.how() != endReset && !b.conn.isTLS()
}

func (b *body) end() error {
	if b.rec.Err != nil {
		return b.rec.Err
	}
	return io.EOF
}

// Close ends the attempt. It never reads on: a connection with an unread rest
// is closed.
func (b *body) Close() error {
	if b.rec == nil {
		b.rec = b.a.finish(ClassCanceled, LimitNone, errBodyClosed)
	}
	return nil
}
