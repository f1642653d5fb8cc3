package budgetcaller

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What the user's own body failed with can be found in the record's error.
func TestBugUserErrorIsHeld(t *testing.T) {
	t.Parallel()
	w := serve(t, (*peer).hold)
	for _, length := range []int64{100, -1} {
		req := post(t, w.url("/"), &userBody{Reader: failing("hello")}, length)
		rec := once(t, newCaller(t, Config{}), 5*time.Second, req)
		if rec.Class != ClassCanceled || !errors.Is(rec.Err, errUser) {
			t.Errorf("length %d: %v, error %v; want canceled and errors.Is(err, errUser)", length, rec.Class, rec.Err)
		}
	}
}

// Over TLS an end that was not announced by close_notify may be anybody's cut,
// so a close-delimited body that ends so is not whole (RFC 9112, section 9.8).
func TestBugTLSEndWithoutGoodbye(t *testing.T) {
	t.Parallel()
	cert, pool := authority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		w := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version}, func(p *peer) {
			if p.request() != nil {
				p.send("HTTP/1.1 200 OK\r\n\r\nhello")
				p.fin()
			}
		})
		rec := once(t, newCaller(t, Config{TLS: &tls.Config{RootCAs: pool}}), 5*time.Second, get(t, w.url("/")))
		want{class: ClassTruncated, phases: in(PhaseBody), effects: unknown(), status: 200, bytes: 5, expected: -1}.check(t, rec)
	}
}

// gather holds writes back until flushed, so that several TLS records leave in
// one segment.
type gather struct {
	net.Conn
	on  bool
	buf bytes.Buffer
}

func (g *gather) Write(p []byte) (int, error) {
	if !g.on {
		return g.Conn.Write(p)
	}
	return g.buf.Write(p)
}

func (g *gather) flush() { g.on = false; _, _ = g.Conn.Write(g.buf.Bytes()); g.buf.Reset() }

// Bytes that nobody asked for are not the answer to the next request, also when
// TLS has already taken them from the socket and nothing above has seen them.
func TestBugTLSUnaskedBytes(t *testing.T) {
	t.Parallel()
	cert, pool := authority(t)
	w := serve(t, func(p *peer) {
		g := &gather{Conn: p.tcp}
		s := tls.Server(g, &tls.Config{Certificates: []tls.Certificate{cert}})
		if s.Handshake() != nil {
			return
		}
		buf := make([]byte, 4096)
		for {
			if _, err := s.Read(buf); err != nil {
				return
			}
			g.on = true
			_, _ = io.WriteString(s, answer("asked"))
			_, _ = io.WriteString(s, answer("not asked for"))
			g.flush()
		}
	})
	c := newCaller(t, Config{TLS: &tls.Config{RootCAs: pool}})
	for i := range 4 {
		var body bytes.Buffer
		if _, err := run(t, c, 5*time.Second, get(t, "https://"+w.host+"/"), &body); err != nil || body.String() != "asked" {
			t.Errorf("call %d: body %q, error %v; want \"asked\"", i+1, body.String(), err)
		}
	}
}

// A reset that meets the ClientHello being written is a reset as well.
func TestBugTLSResetAfterAccept(t *testing.T) {
	t.Parallel()
	w := serve(t, thenReset)
	c := newCaller(t, Config{})
	count := map[Class]int{}
	for range 300 {
		count[once(t, c, 5*time.Second, get(t, "https://"+w.host+"/")).Class]++
	}
	if count[ClassReset] != 300 {
		t.Errorf("got %v, want 300 times reset", count)
	}
}

// With TLS 1.3 the client is done with the handshake before the server has
// judged the client's certificate: its refusal is still tls_failed.
func TestBugTLSClientCertificateRefused(t *testing.T) {
	t.Parallel()
	cert, pool := authority(t)
	for version, name := range map[uint16]string{tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3"} {
		w := serveTLS(t, &tls.Config{
			Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert, MinVersion: version, MaxVersion: version,
		}, (*peer).hold)
		rec := once(t, newCaller(t, Config{TLS: &tls.Config{RootCAs: pool}}), 5*time.Second, get(t, w.url("/")))
		if rec.Class != ClassTLSFailed || rec.Effect != EffectNone {
			t.Errorf("TLS %s: %v in %v, effect %v (%v); want tls_failed, effect none", name, rec.Class, rec.Phase, rec.Effect, rec.Err)
		}
	}
}

// A RST while the request is still being sent reaches reader or writer, whoever
// the kernel tells first. Either way it is a reset, and a body without a length
// that it cuts is never whole.
func TestBugResetWhileSending(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"in the head":                  "HTTP/1.1 200 OK\r\nX: ",
		"in a declared length":         half(),
		"in a close-delimited body":    "HTTP/1.1 200 OK\r\n\r\nhello",
		"before the answer":            "",
		"in a chunked body":            chunkedHead + "5\r\nhello\r\n",
		"with a word that is no HTTP ": "hello",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) {
				if p.requestHead() != nil {
					p.send(said)
					time.Sleep(5 * ms) // the client waits in both directions
					p.reset()
				}
			})
			c := newCaller(t, Config{})
			count := map[Class]int{}
			for range 50 {
				req := request(t, "POST", w.url("/"), bytes.NewReader(make([]byte, 16<<20)))
				count[once(t, c, 10*time.Second, req).Class]++
			}
			if count[ClassReset] != 50 {
				t.Errorf("got %v, want 50 times reset", count)
			}
		})
	}
}

// lateBody gives its bytes only when the call is long over, and does not heed
// being closed.
type lateBody struct {
	release chan struct{}
	reads   atomic.Int64
}

func (b *lateBody) Read(p []byte) (int, error) {
	b.reads.Add(1)
	<-b.release
	return copy(p, strings.Repeat("x", 8<<10)), nil
}

func (b *lateBody) Close() error { return nil }

// A user's reader that comes back after the call has ended must not bring the
// process down.
func TestBugLateBodyPanics(t *testing.T) {
	t.Parallel()
	const again = "BUDGETCALLER_TEST_LATE_BODY"
	if os.Getenv(again) == "" { // a panic in a goroutine would end all tests: use a process of its own
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBugLateBodyPanics$", "-test.count=1")
		cmd.Env = append(os.Environ(), again+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	w := serve(t, (*peer).hold)
	c := newCaller(t, Config{})
	body := &lateBody{release: make(chan struct{})}
	rec := once(t, c, 200*ms, post(t, w.url("/"), body, 1<<20))
	if rec.Class != ClassBudgetExhausted || rec.Elapsed > 200*ms+slack {
		t.Errorf("%v after %v (%v)", rec.Class, rec.Elapsed, rec.Err)
	}
	close(body.release)
	time.Sleep(100 * ms)
	if n := body.reads.Load(); n != 1 {
		t.Errorf("the body was asked %d times, want no time after the end", n)
	}
}
