package budgetcaller

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"
)

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

// A connection that was made is named in the record, also when TLS or the
// tunnel failed on it: the partner's own record is found by it.
func TestBugLocalAddressAfterHandshake(t *testing.T) {
	t.Parallel()
	w := serve(t, (*peer).hold)
	c := newCaller(t, Config{Limits: Limits{Connect: 100 * ms}})
	if rec := once(t, c, 5*time.Second, get(t, "https://"+w.host)); !rec.Local.IsValid() || rec.Remote.String() != w.host {
		t.Errorf("%v in %v: from %v to %v; want both ends", rec.Class, rec.Phase, rec.Local, rec.Remote)
	}
}
