package budgetcaller

import (
	"bytes"
	"io"
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
	return &http.Response{
		Status: a.status, StatusCode: a.Status,
		Proto: a.proto, ProtoMajor: a.major, ProtoMinor: a.minor,
		Header: a.Header, Trailer: a.Trailer, Body: io.NopCloser(bytes.NewReader(a.Body)), ContentLength: length, Request: req,
	}
}

// memory keeps an answer. A new attempt begins it anew.
type memory struct {
	resp *http.Response
	body []byte
}

// memoryAtOnce bounds what is set aside on the word of a Content-Length alone,
// and memoryAtFirst is what is set aside without it.
const (
	memoryAtOnce  = 1 << 20
	memoryAtFirst = 512
)

// fill reads the whole body, what was announced straight to where it stays.
func (m *memory) fill(b *body) {
	m.resp, m.body = b.resp, nil
	switch n := b.resp.ContentLength; {
	case n > 0:
		m.body = make([]byte, 0, min(n, memoryAtOnce))
	case n < 0:
		m.body = make([]byte, 0, memoryAtFirst)
	}
	for {
		if len(m.body) < cap(m.body) {
			n, err := b.Read(m.body[len(m.body):cap(m.body)])
			m.body = m.body[:len(m.body)+n]
			if err != nil {
				return
			}
			continue
		}
		// That was all, mostly: room for more is made only if more comes.
		n, err := b.Read(b.a.scrap[:])
		m.body = append(m.body, b.a.scrap[:n]...)
		if err != nil {
			return
		}
		if n > 0 {
			m.body = slices.Grow(m.body, max(memoryAtFirst, len(m.body)))
		}
	}
}

// kept is what a call leaves to whoever made it, in one piece.
type kept struct {
	answer Answer
	first  [1]Record // what answer.Result.Attempts begins in
}

// tell fills in what is known of the answer in m.
func (a *Answer) tell(m *memory) *Answer {
	a.Status, a.Header, a.Body, a.Trailer = m.resp.StatusCode, m.resp.Header, m.body, m.resp.Trailer
	a.announced, a.status = m.resp.ContentLength, m.resp.Status
	a.proto, a.major, a.minor = m.resp.Proto, m.resp.ProtoMajor, m.resp.ProtoMinor
	return a
}
