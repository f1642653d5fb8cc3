package faults

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
)

// maxLines bounds the lines of a request's head; 431 beyond. The parsed form of a
// short line takes many times the line's own bytes.
const maxLines = 200

var errTooManyLines = errors.New("request head of too many lines")

// headLines counts the lines of a head while it is read, and stops at its end:
// what comes behind may be lines of a body or of other requests. It also notes
// the two headers that say how long a body is, of which net/http takes out what
// it does not go by.
type headLines struct {
	lines   int
	empty   bool // nothing but CR has come since the last LF
	within  bool // the head has not ended
	length  bool // there is a Content-Length
	coded   bool // there is a Transfer-Encoding
	begins  [len(codedName)]byte
	nBegins int // of the line's first bytes, in begins
}

const (
	lengthName = "Content-Length:"
	codedName  = "Transfer-Encoding:"
)

// note keeps the beginning of a line of which more has come, and looks at it once
// the line is over.
func (h *headLines) note(line []byte, over bool) {
	h.nBegins += copy(h.begins[h.nBegins:], line)
	if !over {
		return
	}
	is := func(name string) bool {
		return h.nBegins >= len(name) && strings.EqualFold(string(h.begins[:len(name)]), name)
	}
	h.length = h.length || is(lengthName)
	h.coded = h.coded || is(codedName)
	h.nBegins = 0
}

// faulty says whether a request of HTTP/1.minor says wrongly how long its body
// is: twice, or by what 1.0 does not know.
func (h *headLines) faulty(minor int) bool { return h.coded && (h.length || minor == 0) }

// scan looks at more bytes. It returns false once there are too many lines.
func (h *headLines) scan(b []byte) bool {
	for h.within && len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		line := b
		if i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		h.note(line, i >= 0)
		h.empty = h.empty && len(bytes.TrimLeft(line, "\r")) == 0
		if i < 0 {
			break
		}
		h.within = !h.empty || h.lines == 0
		h.empty = true
		if h.lines++; h.lines > maxLines && h.within {
			return false
		}
	}
	return true
}

// keepMethod returns a method to keep. It must not be a part of the request line,
// which would be kept with it.
func keepMethod(s string) string {
	switch s {
	case http.MethodGet:
		return http.MethodGet
	case http.MethodPost:
		return http.MethodPost
	case http.MethodPut:
		return http.MethodPut
	case http.MethodDelete:
		return http.MethodDelete
	case http.MethodHead:
		return http.MethodHead
	}
	return clip(s, 32)
}

// clip copies at most n bytes of s.
func clip(s string, n int) string {
	if s == "/" {
		return "/"
	}
	return strings.Clone(s[:min(n, len(s))])
}
