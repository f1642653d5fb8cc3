package faults

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// TestStopsWithUploads: Close ends clients that never stop sending, in head, body
// or TLS, although each read is allowed its own time.
func TestStopsWithUploads(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"ok", "slow-read:bytes=100,every=1ms"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			const clients = 40
			p, l := start(t, fault)
			stop := make(chan struct{})
			defer close(stop)
			for range clients {
				nc := dial(t, l)
				send(t, nc, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50000000\r\n\r\n")
				go upload(nc, stop)
			}
			waitFor(t, "all uploads under way", func() bool { return len(p.Ledger().Entries(Query{})) == 2*clients })
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
			defer cancel()
			if err := p.Close(ctx); err != nil {
				t.Errorf("Close: %v", err)
			}
			within(t, "Close", time.Since(began), 0, time.Second)
			for _, e := range p.Ledger().Entries(Query{}) {
				if !e.Ended() {
					t.Errorf("after Close this has not ended: %+v", e)
				}
			}
		})
	}
}

// upload sends a little, again and again.
func upload(nc net.Conn, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(2 * time.Millisecond):
		}
		if _, err := io.WriteString(nc, "0123456789012345678901234567890123456789"); err != nil {
			return
		}
	}
}
