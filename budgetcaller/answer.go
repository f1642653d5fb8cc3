package budgetcaller

import (
	"bytes"
	"net/http"
	"slices"
)

// Answer is the whole answer to a call, with the account of how it was got.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Result Result
	// Why says what kept a status of 400 or above from being followed by another
	// attempt. It is empty below 400.
	Why string

	// Trailer is what came after a chunked body, nil if nothing did.
	Trailer http.Header

	status, proto string // as on the wire
	major, minor  int
	announced     int64 // Content-Length of an answer to HEAD
}

// OK reports whether the status is below 400.
func (a *Answer) OK() bool { return a.Status < 400 }

// response returns the answer as net/http has it.
func (a *Answer) response(req *http.Request) *http.Response {
	length := int64(len(a.Body))
	if methodOf(req) == http.MethodHead {
		length = a.announced
	}
	again := &replay{}
	again.resp = http.Response{
		Status: a.status, StatusCode: a.Status,
		Proto: a.proto, ProtoMajor: a.major, ProtoMinor: a.minor,
		Header: a.Header, Trailer: a.Trailer, Body: &again.body, ContentLength: length, Request: req,
	}
	again.body.Reset(a.Body)
	return &again.resp
}

// replay is an answer as net/http has it, in one piece.
type replay struct {
	resp http.Response
	body keptBody
}

// keptBody is a body that is in memory already.
type keptBody struct{ bytes.Reader }

// Close implements io.Closer.
func (*keptBody) Close() error { return nil }

// answerAtOnce bounds what is set aside on the word of a Content-Length alone,
// and answerAtFirst is what is set aside without it.
const (
	answerAtOnce  = 1 << 20
	answerAtFirst = 512
)

// take fills a with the answer whose head has come, and reads its whole body:
// what was announced straight to where it stays.
func (a *Answer) take(b *body) {
	resp := b.resp
	a.Status, a.Header, a.Body = resp.StatusCode, resp.Header, nil
	a.announced, a.status = resp.ContentLength, resp.Status
	a.proto, a.major, a.minor = resp.Proto, resp.ProtoMajor, resp.ProtoMinor
	switch n := resp.ContentLength; {
	case resp.Body == http.NoBody: // an answer to HEAD announces what a GET would bring
	case n > 0 && b.most > 0:
		a.Body = make([]byte, 0, min(n, answerAtOnce, b.most+1))
	case n > 0:
		a.Body = make([]byte, 0, min(n, answerAtOnce))
	case n < 0:
		a.Body = make([]byte, 0, answerAtFirst)
	}
	for {
		if len(a.Body) < cap(a.Body) {
			n, err := b.Read(a.Body[len(a.Body):cap(a.Body)])
			a.Body = a.Body[:len(a.Body)+n]
			if err != nil {
				break
			}
			continue
		}
		// That was all, mostly: room for more is made only if more comes.
		n, err := b.Read(b.a.scrap[:])
		a.Body = append(a.Body, b.a.scrap[:n]...)
		if err != nil {
			break
		}
		if n > 0 {
			a.Body = slices.Grow(a.Body, max(answerAtFirst, len(a.Body)))
		}
	}
	a.Trailer = resp.Trailer // which is whole only now
}

// kept is what a call leaves to whoever made it, in one piece.
type kept struct {
	answer Answer
	first  [1]Record // what answer.Result.Attempts begins in
}
