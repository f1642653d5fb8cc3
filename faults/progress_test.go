package faults

import (
	"io"
	"net"
	"runtime"
	"testing"
	"time"
)

// slowTaker asks for an answer that no system keeps for its client, and has not
// read anything of it yet.
func slowTaker(t *testing.T, bound time.Duration) (*Partner, net.Conn) {
	t.Helper()
	p, l := startWith(t, Config{WriteTimeout: bound}, "ok:body=33554432")
	nc := dial(t, l)
	_ = nc.SetDeadline(time.Now().Add(time.Minute))
	send(t, nc, get)
	return p, nc
}

// TestSlowTaker: who takes an answer slowly but steadily gets it whole, however
// much longer than the bound on a standstill it takes.
func TestSlowTaker(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what the client takes is seen on Linux only")
	}
	const bound = 5 * time.Second
	p, nc := slowTaker(t, bound)
	began, buf := time.Now(), make([]byte, 8<<10)
	for time.Since(began) < bound+bound/2 {
		if _, err := nc.Read(buf); err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	go func() { _, _ = io.Copy(io.Discard, nc) }() // until the partner or the test ends it
	if e := entryOf(t, p, nc, 1); e.How != "answered" || e.Bytes != 32<<20 {
		t.Errorf("entry: %s by the %s, %d bytes, want the whole answer", e.How, e.EndedBy, e.Bytes)
	}
}

// TestStuckTaker: who takes nothing more has hung up.
func TestStuckTaker(t *testing.T) {
	t.Parallel()
	const bound = 500 * time.Millisecond
	p, nc := slowTaker(t, bound)
	e := entryOf(t, p, nc, 1)
	if e.How != "write_stuck" || e.EndedBy != "partner" {
		t.Errorf("entry: %s by the %s, want write_stuck by the partner", e.How, e.EndedBy)
	}
	// It may have taken something in the beginning, and is looked at now and then.
	within(t, "end", time.Duration(e.Elapsed*float64(time.Millisecond)), bound, bound+bound/looksPerBound+2*sweepEvery)
	if s := p.Stats()[0]; s.ClientsLeft != 0 {
		t.Errorf("%d clients left, want 0: it is still there", s.ClientsLeft)
	}
}

// TestAnswerIsBounded: an answer that has been taken for too long in all is given
// up although it is still being taken.
func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()
	p, nc := slowTaker(t, time.Minute)
	time.Sleep(100 * time.Millisecond)
	for _, c := range p.all(nil) {
		if c.answering.Load() == 0 {
			t.Error("the answer has not begun")
		}
		c.answering.Store(p.clock.now() - int64(maxAnswerTime) - 1) // an hour passes
	}
	for range 100 { // as far as it gets
		if _, err := nc.Read(make([]byte, 512)); err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if e := entryOf(t, p, nc, 1); e.How != "write_stuck" || e.EndedBy != "partner" {
		t.Errorf("entry: %s by the %s, want write_stuck by the partner", e.How, e.EndedBy)
	}
}
