package budgetcaller

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// authority is a certificate of its own for 127.0.0.1 and name.test, and the
// pool that trusts it.
func authority(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"name.test"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// TestTLS: handshakes that succeed, fail and hang, and ends of the encrypted
// stream, each under TLS 1.2 and 1.3.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, pool := authority(t)
	trusts := &tls.Config{RootCAs: pool}
	fifty := strings.Repeat("x", 50)
	say := func(s string, end func(*peer)) func(*peer) {
		return func(p *peer) {
			if p.request() != nil {
				p.send(s)
				end(p)
			}
		}
	}
	notify := func(p *peer) { _ = p.Conn.(*tls.Conn).CloseWrite(); p.hold() }
	ok := func(bytes, expected int64) want {
		return want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: bytes, expected: expected}
	}
	cut := func(class Class, bytes, expected int64) want {
		return want{class: class, phases: in(PhaseBody), effects: unknown(), status: 200, bytes: bytes, expected: expected}
	}
	shake := func(class Class, limit Limit, least time.Duration) want {
		// The first look at the system's roots takes its time.
		return want{class: class, limit: limit, phases: in(PhaseTLS), effects: none(), expected: -1, least: least, most: least + 2*time.Second}
	}
	bare := func(class Class, p Phase) want {
		return want{class: class, phases: in(p), effects: unknown(), expected: -1}
	}
	for _, tt := range []struct {
		name   string
		tls    *tls.Config
		limits Limits
		budget time.Duration
		script func(*peer) // after the handshake
		raw    func(*peer) // instead of one
		want   want
	}{
		{name: "trusted", tls: trusts, script: say(answer("hi"), thenHold), want: ok(2, 2)},
		{name: "insecure", tls: &tls.Config{InsecureSkipVerify: true}, script: say(answer("hi"), thenHold), want: ok(2, 2)},
		{name: "h2 asked for and offered", tls: &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}}, script: say(answer("hi"), thenHold), want: ok(2, 2)},
		{name: "unknown authority", script: say(answer("hi"), thenHold), want: shake(ClassTLSFailed, LimitNone, 0)},
		{name: "other name", tls: &tls.Config{RootCAs: pool, ServerName: "other.test"}, script: say(answer("hi"), thenHold), want: shake(ClassTLSFailed, LimitNone, 0)},
		{name: "speaks plain HTTP", tls: trusts, raw: func(p *peer) { p.send("HTTP/1.1 400 Bad Request\r\n\r\n"); p.hold() }, want: shake(ClassTLSFailed, LimitNone, 0)},
		{name: "end in the handshake", tls: trusts, raw: thenFin, want: shake(ClassTLSFailed, LimitNone, 0)},
		{name: "alert in the handshake", tls: trusts, raw: func(p *peer) { p.send("\x15\x03\x03\x00\x02\x02\x28"); p.fin() }, want: shake(ClassTLSFailed, LimitNone, 0)},
		{
			name: "reset in the handshake", tls: trusts, raw: func(p *peer) { _, _ = p.br.ReadByte(); p.reset() },
			want: shake(ClassReset, LimitNone, 0),
		},
		{name: "silent", tls: trusts, limits: Limits{Connect: 200 * ms}, raw: thenHold, want: shake(ClassTLSTimeout, LimitConnect, 200*ms)},
		{name: "silent, never reads", tls: trusts, limits: Limits{Connect: 200 * ms}, raw: func(*peer) { time.Sleep(time.Second) }, want: shake(ClassTLSTimeout, LimitConnect, 200*ms)},
		{
			name: "dripped handshake", tls: trusts, limits: Limits{Connect: 200 * ms},
			raw: func(p *peer) { p.drip("\x16\x03\x03\x40\x00"+strings.Repeat("\x00", 1000), 20*ms) }, want: shake(ClassTLSTimeout, LimitConnect, 200*ms),
		},
		{name: "silent, budget", tls: trusts, budget: 200 * ms, raw: thenHold, want: shake(ClassBudgetExhausted, LimitBudget, 199*ms)},
		{name: "silent, attempt", tls: trusts, limits: Limits{Attempt: 200 * ms}, raw: thenHold, want: shake(ClassAttemptTimeout, LimitAttempt, 200*ms)},
		{name: "silent, read limit does not count here", tls: trusts, limits: Limits{Read: 50 * ms, Connect: 200 * ms}, raw: thenHold, want: shake(ClassTLSTimeout, LimitConnect, 200*ms)},

		{name: "close-delimited, goodbye said", tls: trusts, script: say("HTTP/1.1 200 OK\r\n\r\n"+fifty, notify), want: ok(50, -1)},
		{name: "declared length, no goodbye behind it", tls: trusts, script: say(answer("hi"), thenFin), want: ok(2, 2)},
		{name: "goodbye in a declared length", tls: trusts, script: say(half(), notify), want: cut(ClassTruncated, 50, 100)},
		{name: "no goodbye in a declared length", tls: trusts, script: say(half(), thenFin), want: cut(ClassTruncated, 50, 100)},
		{name: "reset in a declared length", tls: trusts, script: say(half(), thenReset), want: cut(ClassReset, 50, 100)},
		{name: "goodbye in a chunked body", tls: trusts, script: say(chunkedHead+"3\r\nabc\r\n", notify), want: cut(ClassTruncated, 3, -1)},
		{name: "goodbye instead of an answer", tls: trusts, script: say("", notify), want: bare(ClassClosed, PhaseFirstByte)},
		{name: "end instead of an answer", tls: trusts, script: say("", thenFin), want: bare(ClassClosed, PhaseFirstByte)},
		{name: "reset instead of an answer", tls: trusts, script: say("", thenReset), want: bare(ClassReset, PhaseFirstByte)},
		{name: "goodbye in the head", tls: trusts, script: say("HTTP/1.1 200 OK\r\nX: ", notify), want: bare(ClassTruncated, PhaseHead)},
		{name: "garbage", tls: trusts, script: say("hello\r\n", thenHold), want: bare(ClassMalformed, PhaseHead)},
		{name: "bytes that are no record in the body", tls: trusts, script: say(half(), func(p *peer) {
			_, _ = io.WriteString(p.tcp, "this is not a record of TLS at all")
			p.fin()
		}), want: cut(ClassMalformed, 50, 100)},
		{
			name: "silence before the first byte", tls: trusts, limits: Limits{Read: 200 * ms}, script: say("", thenHold),
			want: want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseFirstByte), effects: unknown(), expected: -1, least: 200 * ms},
		},
		{
			name: "dripped answer", tls: trusts, limits: Limits{Read: 500 * ms}, script: func(p *peer) {
				p.request()
				p.drip(answer("hello"), 20*ms)
				p.hold()
			}, want: want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: 5, expected: 5, least: 40 * 20 * ms, most: 3 * time.Second},
		},
	} {
		for version, name := range map[uint16]string{tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3"} {
			t.Run(tt.name+", TLS "+name, func(t *testing.T) {
				t.Parallel()
				var w *wire
				if tt.raw != nil {
					w = serve(t, tt.raw)
				} else {
					w = serveTLS(t, &tls.Config{
						Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"},
						MinVersion: version, MaxVersion: version,
					}, tt.script)
				}
				budget := tt.budget
				if budget == 0 {
					budget = 5 * time.Second
				}
				c := newCaller(t, Config{Limits: tt.limits, TLS: tt.tls})
				if err := machine.Again(spoils, func() error {
					return tt.want.differs(once(t, c, budget, get(t, "https://"+w.host+"/")))
				}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// HTTP/2 never gets in, whatever the user's settings say: it is not offered, and
// the bytes of a partner that speaks it all the same are no answer.
func TestNoHTTP2(t *testing.T) {
	t.Parallel()
	cert, pool := authority(t)
	offered := make(chan []string, 3)
	hello := func(protos ...string) *tls.Config {
		return &tls.Config{
			Certificates: []tls.Certificate{cert}, NextProtos: protos,
			GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
				offered <- h.SupportedProtos
				return nil, nil
			},
		}
	}
	spoken := make(chan *http.Request, 1)
	both := serveTLS(t, hello("h2", "http/1.1"), func(p *peer) {
		if req := p.request(); req != nil {
			spoken <- req
			p.send(answer(""))
		}
	})
	only := serveTLS(t, hello("h2"), func(p *peer) {
		p.send("\x00\x00\x00\x04\x00\x00\x00\x00\x00") // an empty SETTINGS frame
		p.hold()
	})
	other := serveTLS(t, hello("other"), (*peer).hold)
	own := &tls.Config{RootCAs: pool, NextProtos: []string{"h2", "http/1.1"}}
	c := newCaller(t, Config{TLS: own, Limits: Limits{Read: 300 * ms}})
	if rec := once(t, c, 5*time.Second, get(t, both.url("/"))); rec.Class != ClassOK {
		t.Errorf("%v (%v), want ok", rec.Class, rec.Err)
	} else if req := <-spoken; req.Proto != "HTTP/1.1" {
		t.Errorf("spoke %s", req.Proto)
	}
	want{class: ClassReadTimeout, limit: LimitRead, phases: in(PhaseHead), effects: unknown(), expected: -1, least: 300 * ms}.check(
		t, once(t, c, 5*time.Second, get(t, only.url("/"))))
	want{class: ClassTLSFailed, phases: in(PhaseTLS), effects: none(), expected: -1}.check(
		t, once(t, c, 5*time.Second, get(t, other.url("/"))))
	for range 3 {
		if got := <-offered; len(got) != 1 || got[0] != "http/1.1" {
			t.Errorf("offered %v, want http/1.1 alone", got)
		}
	}
	if len(own.NextProtos) != 2 {
		t.Errorf("the user's own configuration was changed: %v", own.NextProtos)
	}
}

// A connection over TLS is used again.
func TestTLSReuse(t *testing.T) {
	t.Parallel()
	cert, pool := authority(t)
	w := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) {
		p.answers(answer("hi"))
	})
	c := newCaller(t, Config{TLS: &tls.Config{RootCAs: pool}})
	for i := range 5 {
		rec := once(t, c, 5*time.Second, get(t, w.url("/")))
		if rec.Class != ClassOK || rec.Nth != i+1 || rec.Reused != (i > 0) {
			t.Errorf("call %d: %v (%v), request %d, reused %v", i+1, rec.Class, rec.Err, rec.Nth, rec.Reused)
		}
	}
}
