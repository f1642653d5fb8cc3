package faults

import (
	"bufio"
	"io"
	"testing"
)

// TestCountsAgree: what was refused as bad was received too, connections too many
// are counted, and so is what a stream had no room for.
func TestCountsAgree(t *testing.T) {
	t.Parallel()
	p, l := startWith(t, Config{MaxConns: 1}, "ok")
	feed := p.Ledger().Follow(0)
	defer feed.Close()
	nc := dial(t, l)
	send(t, nc, get+"GET /?fault=nosuch HTTP/1.1\r\nHost: h\r\n\r\n")
	br := bufio.NewReader(nc)
	_, _ = io.Copy(io.Discard, readAnswer(t, br).Body)
	_, _ = io.Copy(io.Discard, readAnswer(t, br).Body)
	if _, err := dial(t, l).Read(make([]byte, 1)); err == nil {
		t.Error("the second connection was served, want it closed")
	}
	entryOf(t, p, nc, 2)
	var total, overfull uint64
	waitFor(t, "the refused connection's count", func() bool {
		total, overfull = 0, 0
		for _, o := range p.Stats()[0].Outcomes {
			if total += o.Count; o.Outcome == "overfull" {
				overfull = o.Count
			}
		}
		return overfull == 1
	})
	if got := p.Stats()[0].Received; got != total-overfull || got != 2 {
		t.Errorf("received %d, ended %d of which %d connections too many, want 2 received and as many ended", got, total, overfull)
	}
	if got := p.Ledger().Missed(); got < 2 {
		t.Errorf("missed by streams: got %d, want all", got)
	}
}
