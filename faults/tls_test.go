package faults

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startTLS starts a listener that speaks TLS, and returns what its clients need.
func startTLS(t *testing.T, fault string) (*Partner, Listener, *tls.Config) {
	t.Helper()
	setup, ca, err := SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatal("the authority's certificate cannot be read")
	}
	p, l := startWith(t, Config{Listeners: []ListenerConfig{{Faults: []Spec{spec(t, fault)}, TLS: setup}}})
	if !strings.HasPrefix(l.URL, "https://127.0.0.1:") {
		t.Errorf("URL: %s", l.URL)
	}
	return p, l, &tls.Config{RootCAs: pool, ServerName: "localhost", NextProtos: []string{"h2", "http/1.1"}}
}

// TestTLS: every fault shows above TLS as it does without it.
func TestTLS(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fault string
		body  int // bytes of the answer's body; -1: no whole head
		end   string
		how   string
	}{
		{"ok", 13, "open", "answered"},
		{"slow:delay=50ms", 13, "open", "answered"},
		{"drip:bytes=5,every=5ms", 5, "open", "answered"},
		{"read-timeout", -1, "open", "closed"},
		{"stall", 50, "open", "closed"},
		{"truncate", 50, "EOF", "truncated"},
		{"truncate:at=head", -1, "EOF", "truncated"},
		{"reset:at=body:50", 50, "RST", "reset"},
		{"reset", -1, "RST", "reset"},
		{"close", -1, "EOF", "closed"},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			t.Parallel()
			p, l, setup := startTLS(t, tc.fault)
			tcp := dial(t, l)
			nc := tls.Client(tcp, setup)
			if err := nc.Handshake(); err != nil {
				t.Fatal(err)
			}
			if got := nc.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
				t.Errorf("protocol: %q", got)
			}
			send(t, nc, get)
			_ = nc.SetReadDeadline(time.Now().Add(1500 * time.Millisecond))
			got, err := readAll(nc)
			var timeout net.Error
			end := "EOF"
			switch {
			case errors.Is(err, syscall.ECONNRESET):
				end = "RST"
			case errors.As(err, &timeout) && timeout.Timeout():
				end = "open"
			case err != nil:
				end = err.Error()
			}
			_, body, whole := strings.Cut(got, "\r\n\r\n")
			if end != tc.end || tc.body >= 0 && len(body) != tc.body || whole != (tc.body >= 0) {
				t.Errorf("got %q, ended by %s, want %d bytes of body, ended by %s", got, end, tc.body, tc.end)
			}
			tcp.Close()
			if e := entryOf(t, p, tcp, 1); e.How != tc.how {
				t.Errorf("entry: got %+v, want %s", e, tc.how)
			}
		})
	}
}

// TestTLSKeepsAlive: a connection is used again, also after it was parked and
// with a request that came while another was worked on.
func TestTLSKeepsAlive(t *testing.T) {
	t.Parallel()
	_, l, setup := startTLS(t, "slow:delay=20ms")
	nc := tls.Client(dial(t, l), setup)
	br := bufio.NewReader(nc)
	for i := range 3 {
		send(t, nc, get)
		send(t, nc, get)
		for range 2 {
			if _, err := io.ReadAll(readAnswer(t, br).Body); err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
		time.Sleep(parkAfter + 2*sweepEvery)
	}
}

// TestTLSHandshakeThatFails is in the ledger as what it was.
func TestTLSHandshakeThatFails(t *testing.T) {
	t.Parallel()
	p, l, _ := startTLS(t, "ok")
	nc := dial(t, l)
	send(t, nc, get)
	_, _ = readAll(nc) // an alert, or nothing
	if e := entryOf(t, p, nc, 1); e.Kind != "connection" || e.How != "tls_failed" {
		t.Errorf("entry: got %+v, want tls_failed", e)
	}
}
