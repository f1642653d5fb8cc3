package faults

import (
	"testing"
	"time"
)

// TestLeftInsideTheBody: a client that goes before it has sent its whole body
// has left, and is counted as one.
func TestLeftInsideTheBody(t *testing.T) {
	t.Parallel()
	p, l := start(t, "read-timeout")
	const clients = 10
	for range clients {
		nc := dial(t, l)
		send(t, nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
		nc.Close()
	}
	left := uint64(0)
	for until := time.Now().Add(5 * time.Second); left < clients && time.Now().Before(until); left = p.Stats()[0].ClientsLeft {
		time.Sleep(5 * time.Millisecond)
	}
	if left != clients {
		t.Errorf("%d of %d clients that left inside their body are counted", left, clients)
	}
}
