package budgetcaller

import (
	"bytes"
	"io"
	"net/http"
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

// memory is the sink that keeps an answer. A new attempt begins it anew.
type memory struct {
	resp *http.Response
	body []byte
}

// memoryAtOnce bounds what is set aside on the word of a Content-Length alone.
const memoryAtOnce = 1 << 20

// begin takes the head of an answer whose body follows.
func (m *memory) begin(resp *http.Response) {
	m.resp, m.body = resp, nil
	if n := resp.ContentLength; n > 0 {
		m.body = make([]byte, 0, min(n, memoryAtOnce))
	}
}

// Write keeps p.
func (m *memory) Write(p []byte) (int, error) {
	m.body = append(m.body, p...)
	return len(p), nil
}

func (m *memory) answer(res Result) *Answer {
	return &Answer{
		Status: m.resp.StatusCode, Header: m.resp.Header, Body: m.body, Result: res,
		Trailer: m.resp.Trailer, announced: m.resp.ContentLength, status: m.resp.Status, proto: m.resp.Proto, major: m.resp.ProtoMajor, minor: m.resp.ProtoMinor,
	}
}
