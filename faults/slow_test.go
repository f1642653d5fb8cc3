package faults

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// TestSlow: the delay is kept and told.
func TestSlow(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	p, l := start(t, "slow:delay=100ms")
	nc := dial(t, l)
	br := bufio.NewReader(nc)
	for i := range 2 {
		began := time.Now()
		send(t, nc, get)
		r := readAnswer(t, br)
		body, _ := io.ReadAll(r.Body)
		within(t, "answer", time.Since(began), delay, delay)
		if !strings.HasPrefix(r.Header.Get("Server-Timing"), "asked;dur=100.000, delivered;dur=1") {
			t.Errorf("Server-Timing: got %q", r.Header.Get("Server-Timing"))
		}
		if want := fmt.Sprintf("{\"effect\":%d}\n", i+1); string(body) != want {
			t.Errorf("body: got %q, want %q", body, want)
		}
		e := entryOf(t, p, nc, i+1)
		if e.Asked != 100 || e.Delay < 100 || e.How != "answered" || e.EndedBy != "partner" || !e.Effect || e.Status != 200 {
			t.Errorf("entry: got %+v", e)
		}
	}
}

// TestSlowWorksOn: the work is done to its end although the client has left, and
// the ledger tells both.
func TestSlowWorksOn(t *testing.T) {
	t.Parallel()
	p, l := start(t, "slow:delay=2s")
	nc := dial(t, l)
	send(t, nc, get)
	time.Sleep(100 * time.Millisecond)
	nc.Close()
	e := entryOf(t, p, nc, 1)
	if e.EndedBy != "client" || e.How != "closed" || e.Status != 0 || e.Effect {
		t.Errorf("entry of a client that left: got %+v", e)
	}
	waitFor(t, "the effect", func() bool {
		e = p.Ledger().Entries(Query{Remote: localOf(nc), Nth: 1})[0]
		return e.Effect
	})
	if e.OrphanedOverlap <= 0 || e.OrphanedOverlap > 2000+float64(slack.Milliseconds()) || e.Orphaned != 0 || e.EndedBy != "client" {
		t.Errorf("entry after the work: got %+v, want the rest of 2 s as overlap", e)
	}
	if s := p.Stats()[0]; s.ClientsLeft != 1 || s.Orphaned <= 0 {
		t.Errorf("counts: got %+v", s)
	}
}

// TestPipelinedBehindSlow: what a client sends while it waits is served after.
func TestPipelinedBehindSlow(t *testing.T) {
	t.Parallel()
	_, l := start(t, "slow:delay=50ms,when=first=1")
	nc := dial(t, l)
	br := bufio.NewReader(nc)
	send(t, nc, get)
	time.Sleep(20 * time.Millisecond)
	send(t, nc, get+get)
	for i := range 3 {
		if body, _ := io.ReadAll(readAnswer(t, br).Body); string(body) != fmt.Sprintf("{\"effect\":%d}\n", i+1) {
			t.Errorf("answer %d: %q", i+1, body)
		}
	}
}

// TestHangIsBounded: a hang ends by itself.
func TestHangIsBounded(t *testing.T) {
	t.Parallel()
	p, l := start(t, "read-timeout:hold=200ms")
	nc := dial(t, l)
	began := time.Now()
	send(t, nc, get)
	_, err := nc.Read(make([]byte, 1))
	within(t, "end", time.Since(began), 200*time.Millisecond, 200*time.Millisecond+sweepEvery)
	if e := entryOf(t, p, nc, 1); e.How != "held" || e.EndedBy != "partner" {
		t.Errorf("got %v, entry %+v, want held by the partner", err, e)
	}
}

// TestLeavingAfterTheAnswerIsNoLeaving: a client that closes as soon as it has
// its answer was answered, however fast it is.
func TestLeavingAfterTheAnswerIsNoLeaving(t *testing.T) {
	t.Parallel()
	p, l := start(t, "slow:delay=1ms")
	for range 200 {
		nc := dial(t, l)
		send(t, nc, get)
		if _, err := nc.Read(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		nc.Close()
		if e := entryOf(t, p, nc, 1); e.How != "answered" || e.EndedBy != "partner" {
			t.Fatalf("entry: got %s by the %s, want answered by the partner", e.How, e.EndedBy)
		}
	}
}

// TestHangAfterLeaving: a client that left while the work was done is in the
// ledger with the time of its leaving, not of the end of the work.
func TestHangAfterLeaving(t *testing.T) {
	t.Parallel()
	p, l := start(t, "lost-response:delay=1500ms,then=hang")
	nc := dial(t, l)
	send(t, nc, get)
	time.Sleep(100 * time.Millisecond)
	nc.Close()
	first := entryOf(t, p, nc, 1)
	var e Entry
	waitFor(t, "the effect", func() bool {
		e = p.Ledger().Entries(Query{Remote: localOf(nc), Nth: 1})[0]
		return e.Effect
	})
	if e.EndedAt != first.EndedAt || e.EndedBy != "client" || e.OrphanedOverlap == 0 || p.Stats()[0].Hung != 0 {
		t.Errorf("got %+v, want the end as it was seen first: %+v", e, first)
	}
}
