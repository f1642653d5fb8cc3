package faults

import (
	"net/http"
	"strconv"
	"time"
)

// defaultSize stands for a body that only tells the effect's number.
const defaultSize = -1

// answer is what a fault wants to answer.
type answer struct {
	status   int
	size     int64  // of the body; defaultSize: just as long as it needs to be
	extra    string // further header lines, each ended by CRLF
	kind     string // Content-Type; empty: application/json
	chunked  bool   // no Content-Length, chunks instead
	noEffect bool   // nothing takes place with it
}

// answer sends a whole answer. The effect takes place with it, if it is to.
func (x *Exchange) answer(a answer) {
	a = x.writeHead(a)
	x.bodyPart(0, a.size, a.size)
	x.flush()
}

// writeHead puts the head into the buffer. It returns the answer as it will be:
// a repeat of a request with an Idempotency-Key gets the first one, headers too,
// in the way in which this fault sends an answer. A fault whose answer has no
// effect gives its own.
func (x *Exchange) writeHead(a answer) answer {
	if x.spec != nil && !a.noEffect {
		x.actWith(a)
		if x.acted && x.e.duplicate && x.first.status != 0 {
			a.status, a.size, a.extra = x.first.status, x.first.size, x.first.extra
		}
	}
	if a.size == defaultSize {
		a.size = int64(len(appendBody(nil, x.first.id, defaultSize, 0, 64)))
	}
	if a.kind == "" {
		a.kind = "application/json"
	}
	x.e.status = int16(a.status)
	b := x.buf
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(a.status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(a.status)...)
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, a.kind...)
	if a.chunked {
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
	} else if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, a.size, 10)
	}
	b = append(b, "\r\nDate: "...)
	b = append(b, x.c.p.date()...)
	b = append(b, "\r\nServer-Timing: asked;dur="...)
	b = appendMS(b, x.e.asked)
	b = append(b, ", delivered;dur="...)
	b = appendMS(b, x.c.p.clock.now()-x.e.whole)
	switch {
	case x.close:
		b = append(b, "\r\nConnection: close\r\n"...)
	case x.req != nil && x.req.ProtoMinor == 0:
		b = append(b, "\r\nConnection: keep-alive\r\n"...)
	default:
		b = append(b, "\r\n"...)
	}
	b = append(b, a.extra...)
	x.buf = append(b, "\r\n"...)
	return a
}

// appendMS writes ns as milliseconds with three digits after the point.
func appendMS(b []byte, ns int64) []byte {
	us := max(0, ns) / 1000
	b = strconv.AppendInt(b, us/1000, 10)
	us %= 1000
	return append(b, '.', byte('0'+us/100), byte('0'+us/10%10), byte('0'+us%10))
}

// bodyPart puts the bytes from from up to to of a body of size bytes into the
// buffer, and sends what is too much to keep. The answer to HEAD has no body.
func (x *Exchange) bodyPart(from, to, size int64) {
	if x.req.Method == http.MethodHead {
		return
	}
	const piece = 32 << 10
	for from < to && !x.dead {
		n := min(piece, to-from)
		x.buf = appendBody(x.buf, x.first.id, size, from, n)
		x.e.bytes += n
		if from += n; from < to {
			x.flush()
		}
	}
}

// appendBody appends n bytes from byte from of the body for an effect: a
// function of its arguments, so that the same answer can be given again. Bodies
// of a given size are filled up, and plain filling if they are too short.
func appendBody(b []byte, id uint64, size, from, n int64) []byte {
	var room [64]byte
	head := append(room[:0], `{"effect":`...)
	if id == 0 {
		head = append(head, "null"...)
	} else {
		head = strconv.AppendUint(head, id, 10)
	}
	if size == defaultSize || size == int64(len(head)+2) {
		head = append(head, "}\n"...)
		return append(b, head[min(from, int64(len(head))):min(from+n, int64(len(head)))]...)
	}
	const tail = "\"}\n"
	head = append(head, `,"pad":"`...)
	if size < int64(len(head)+len(tail)) {
		head = head[:0]
	}
	for i := from; i < from+n; i++ {
		switch {
		case i < int64(len(head)):
			b = append(b, head[i])
		case len(head) > 0 && i >= size-int64(len(tail)):
			b = append(b, tail[i-size+int64(len(tail))])
		default:
			b = append(b, 'x')
		}
	}
	return b
}

// flush writes what is in the buffer.
func (x *Exchange) flush() {
	if len(x.buf) > 0 && !x.dead {
		x.write(x.buf)
	}
	x.buf = x.buf[:0]
}

// write sends b at once and notes it.
func (x *Exchange) write(b []byte) {
	c := x.c
	if x.watched && x.hasLeft() {
		return
	}
	at := c.p.clock.now()
	if x.e.firstWrite == 0 {
		x.e.firstWrite = at
		c.answering.Store(at)
	}
	n, err := c.stream.Write(b)
	x.e.noteWrite(at, n)
	if err != nil {
		x.dies(err)
	}
}

// hasLeft says whether the client was seen to leave. If it was not, what it does
// from now on until the next wait is no leaving: it may have got all it wanted.
func (x *Exchange) hasLeft() bool {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	x.c.current = nil
	if x.c.left != 0 {
		x.leftLocked()
	}
	return x.dead
}

// lastLook is hasLeft at the end of an exchange: a client that has all that the
// fault was to show has not left, unless it had before it got that.
func (x *Exchange) lastLook() {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	x.c.current = nil
	if x.c.worksOn || x.c.left != 0 && (x.e.sent == 0 || x.end.kind == endHold) {
		x.leftLocked()
	}
}

// wasShut is hasLeft where what the connection broke with may only be that it
// has been closed since the client left.
func (x *Exchange) wasShut() bool {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	if x.c.worksOn {
		x.leftLocked()
	}
	return x.c.worksOn
}

func (x *Exchange) leftLocked() {
	x.dead, x.deadAt, x.deadHow, x.deadByClient = true, x.c.left, x.c.leftHow, true
}

// date returns the Date header's value, made afresh once a second.
func (p *Partner) date() string {
	now := time.Now()
	if d := p.dates.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &dated{now.Unix(), now.UTC().Format(http.TimeFormat)}
	p.dates.Store(d)
	return d.text
}

type dated struct {
	second int64
	text   string
}
