package budgetcaller

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// then is what the partner does after it has sent its bytes.
type then func(*peer)

func thenFin(p *peer)   { p.fin() }
func thenReset(p *peer) { p.reset() }
func thenHold(p *peer)  { p.hold() }

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// TestBrokenAnswers: what the partner sends is cut or wrong. Each runs several
// times, on fresh connections and on used ones, for GET and for POST.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	fifty := strings.Repeat("x", 50)
	bare := func(class Class, p ...Phase) want {
		return want{class: class, phases: p, effects: unknown(), expected: -1}
	}
	body := func(class Class, bytes, expected int64) want {
		return want{class: class, phases: in(PhaseBody), effects: unknown(), status: 200, bytes: bytes, expected: expected}
	}
	for _, tt := range []struct {
		name, answer string
		then         then
		want         want
	}{
		{"closed without a byte", "", thenFin, bare(ClassClosed, PhaseFirstByte)},
		{"reset without a byte", "", thenReset, bare(ClassReset, PhaseFirstByte)},
		{"end after one byte", "H", thenFin, bare(ClassTruncated, PhaseHead)},
		{"end in the first word", "HTT", thenFin, bare(ClassTruncated, PhaseHead)},
		{"end in the status line", "HTTP/1.1 20", thenFin, bare(ClassTruncated, PhaseHead)},
		{"end after the status line", "HTTP/1.1 200 OK\r\n", thenFin, bare(ClassTruncated, PhaseHead)},
		{"end in a header", "HTTP/1.1 200 OK\r\nContent-Le", thenFin, bare(ClassTruncated, PhaseHead)},
		{"end before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", thenFin, bare(ClassTruncated, PhaseHead)},
		{"end in the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", thenFin, bare(ClassTruncated, PhaseHead)},
		{"end after a 1xx", "HTTP/1.1 103 X\r\n\r\n", thenFin, bare(ClassTruncated, PhaseHead)},
		{"reset in the first word", "HT", thenReset, bare(ClassReset, PhaseHead)},
		{"reset in a header", "HTTP/1.1 200 OK\r\nContent-Le", thenReset, bare(ClassReset, PhaseHead)},
		{"end in a declared length", half(), thenFin, body(ClassTruncated, 50, 100)},
		{"end before the first body byte", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", thenFin, body(ClassTruncated, 0, 100)},
		{"reset in a declared length", half(), thenReset, body(ClassReset, 50, 100)},
		{"reset in a close-delimited body", "HTTP/1.1 200 OK\r\n\r\n" + fifty, thenReset, body(ClassReset, 50, -1)},
		{"end without the last chunk", chunkedHead + "32\r\n" + fifty + "\r\n", thenFin, body(ClassTruncated, 50, -1)},
		{"end inside a chunk", chunkedHead + "64\r\n" + fifty, thenFin, body(ClassTruncated, 50, -1)},
		{"end inside a chunk's size", chunkedHead + "32\r\n" + fifty + "\r\n3", thenFin, body(ClassTruncated, 50, -1)},
		{"end after a chunk's bytes", chunkedHead + "32\r\n" + fifty, thenFin, body(ClassTruncated, 50, -1)},
		{"end in the trailer", chunkedHead + "32\r\n" + fifty + "\r\n0\r\n", thenFin, body(ClassTruncated, 50, -1)},
		{"reset inside a chunk", chunkedHead + "64\r\n" + fifty, thenReset, body(ClassReset, 50, -1)},

		{"garbage with a newline", "hello there\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"garbage, then end", "hello there", thenFin, bare(ClassMalformed, PhaseHead)},
		{"garbage with a newline, then end", "hello\n", thenFin, bare(ClassMalformed, PhaseHead)},
		{"zero bytes", strings.Repeat("\x00", 100), thenFin, bare(ClassMalformed, PhaseHead)},
		{"another protocol", "220 smtp.test ESMTP\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"a TLS alert", "\x15\x03\x01\x00\x02\x02\x46", thenFin, bare(ClassMalformed, PhaseHead)},
		{"HTTP/2 settings", "\x00\x00\x00\x04\x00\x00\x00\x00\x00", thenFin, bare(ClassMalformed, PhaseHead)},
		{"lower case", "http/1.1 200 OK\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"status is no number", "HTTP/1.1 abc OK\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"negative status", "HTTP/1.1 -20 OK\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"header without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"header without a colon, then end", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", thenFin, bare(ClassMalformed, PhaseHead)},
		{"length is no number", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"length beyond 64 bits", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", thenHold, bare(ClassMalformed, PhaseHead)},
		{"unknown transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", thenHold, bare(ClassMalformed, PhaseHead)},
		{"chunk size is no number", chunkedHead + "zz\r\n", thenHold, body(ClassMalformed, 0, -1)},
		{"chunk size beyond 64 bits", chunkedHead + "fffffffffffffffff\r\n", thenHold, body(ClassMalformed, 0, -1)},
		{"chunk longer than it says", chunkedHead + "2\r\nabcdef\r\n", thenHold, body(ClassMalformed, 2, -1)},
		{"bad chunk, then end", chunkedHead + "3\r\nabc\r\nzz\r\n", thenFin, body(ClassMalformed, 3, -1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			used := serve(t, func(p *peer) {
				if p.request() != nil {
					p.send(answer(""))
				}
				if p.request() != nil {
					p.send(tt.answer)
					tt.then(p)
				}
			})
			fresh := serve(t, func(p *peer) {
				if p.request() != nil {
					p.send(tt.answer)
					tt.then(p)
				}
			})
			c := newCaller(t, Config{Limits: Limits{Read: 2 * time.Second}})
			post := tt.want
			if slices.Contains(post.phases, PhaseFirstByte) {
				// The partner may be done with it before our own sender has noticed
				// that all of it is gone.
				post.phases = append(slices.Clone(post.phases), PhaseRequest)
			}
			for range 4 {
				tt.want.check(t, once(t, c, 5*time.Second, get(t, fresh.url("/"))))
				post.check(t, once(t, c, 5*time.Second, newRequest(t, "POST", fresh.url("/"), strings.NewReader("hello"))))
				if rec := once(t, c, 5*time.Second, get(t, used.url("/"))); rec.Class != ClassOK {
					t.Errorf("first request on a connection: %v (%v)", rec.Class, rec.Err)
				}
				rec := once(t, c, 5*time.Second, get(t, used.url("/")))
				tt.want.check(t, rec)
				if !rec.Reused || rec.Nth != 2 {
					t.Errorf("reused %v, request %d on its connection; want the second", rec.Reused, rec.Nth)
				}
			}
			if n, conns := fresh.requests.Load(), fresh.conns.Load(); n != 8 || conns != 8 {
				t.Errorf("the partner saw %d requests on %d connections, want 8 on 8", n, conns)
			}
			if n := used.requests.Load(); n != 8 {
				t.Errorf("the partner saw %d requests, want 8", n)
			}
		})
	}
}

// A reset right after accept may show in the connect, in the request or after
// it, but always as reset (engine notes: 14 to 24 % in the dial itself).
func TestResetAfterAccept(t *testing.T) {
	t.Parallel()
	w := serve(t, thenReset)
	c := newCaller(t, Config{})
	for range 200 {
		var rec Record
		if err := machine.Again(spoils, func() error {
			rec = once(t, c, 5*time.Second, get(t, w.url("/")))
			return want{class: ClassReset, expected: -1}.differs(rec)
		}); err != nil {
			t.Error(err)
		}
		if rec.Phase <= PhaseConnect && rec.Effect != EffectNone {
			t.Errorf("effect %v in phase %v", rec.Effect, rec.Phase)
		}
	}
}

// P3, the caller's half: three ways to be cut short, and the one that cannot be
// seen and therefore is whole.
func TestP3CutShort(t *testing.T) {
	t.Parallel()
	fifty := strings.Repeat("x", 50)
	for _, tt := range []struct {
		name, answer    string
		class           Class
		bytes, expected int64
	}{
		{"50 of 100 declared bytes", half(), ClassTruncated, 50, 100},
		{"chunked without the last chunk", chunkedHead + "32\r\n" + fifty + "\r\n", ClassTruncated, 50, -1},
		{"in the middle of the head", "HTTP/1.1 200 OK\r\nContent-Len", ClassTruncated, 0, -1},
		{"close-delimited", "HTTP/1.1 200 OK\r\n\r\n" + fifty, ClassOK, 50, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) {
				if p.request() != nil {
					p.send(tt.answer)
					p.fin()
				}
			})
			c := newCaller(t, Config{})
			for i := range 20 {
				rec := once(t, c, 5*time.Second, get(t, w.url("/")))
				if rec.Class != tt.class || rec.Bytes != tt.bytes || rec.Expected != tt.expected {
					t.Errorf("run %d: %v, %d of %d bytes (%v); want %v, %d of %d", i, rec.Class, rec.Bytes, rec.Expected, rec.Err, tt.class, tt.bytes, tt.expected)
				}
			}
		})
	}
}
