package faults

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"
)

// TestHandshakeThatFails: the ledger says who ended it, and how.
func TestHandshakeThatFails(t *testing.T) {
	t.Parallel()
	hello := []byte{22, 3, 1, 0, 100, 1, 0, 0, 96} // the beginning of a ClientHello
	for _, tc := range []struct {
		name, how, by string
		client        func(t *testing.T, nc *net.TCPConn, setup *tls.Config)
	}{
		{"closes without a word", "closed", "client", func(_ *testing.T, nc *net.TCPConn, _ *tls.Config) { nc.Close() }},
		{"closes inside its hello", "closed", "client", func(t *testing.T, nc *net.TCPConn, _ *tls.Config) {
			send(t, nc, string(hello))
			nc.Close()
		}},
		{"resets inside its hello", "reset", "client", func(t *testing.T, nc *net.TCPConn, _ *tls.Config) {
			send(t, nc, string(hello))
			time.Sleep(50 * time.Millisecond)
			_ = nc.SetLinger(0)
			nc.Close()
		}},
		{"does not trust the certificate", "tls_failed", "client", func(t *testing.T, nc *net.TCPConn, _ *tls.Config) {
			if err := tls.Client(nc, &tls.Config{ServerName: "localhost"}).Handshake(); err == nil {
				t.Error("the handshake succeeded without the authority")
			}
		}},
		{"speaks an old version", "tls_failed", "partner", func(t *testing.T, nc *net.TCPConn, setup *tls.Config) {
			setup.MinVersion, setup.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			if err := tls.Client(nc, setup).Handshake(); err == nil {
				t.Error("the handshake succeeded with TLS 1.1")
			}
		}},
		{"speaks HTTP", "tls_failed", "partner", func(t *testing.T, nc *net.TCPConn, _ *tls.Config) {
			send(t, nc, get)
			b := make([]byte, 400)
			n, _ := nc.Read(b)
			if got := string(b[:n]); !strings.HasSuffix(got, plain) {
				t.Errorf("got %q, want the word for it", got)
			}
		}},
		{"speaks nonsense", "tls_failed", "partner", func(t *testing.T, nc *net.TCPConn, _ *tls.Config) {
			send(t, nc, "nonsense\r\n")
			_, _ = nc.Read(make([]byte, 1))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, l, setup := startTLS(t, "ok")
			nc := dial(t, l)
			tc.client(t, nc, setup)
			if e := connectionOf(t, p, nc); e.How != tc.how || e.EndedBy != tc.by {
				t.Errorf("got %s by the %s, want %s by the %s", e.How, e.EndedBy, tc.how, tc.by)
			}
		})
	}
}
