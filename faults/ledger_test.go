package faults

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// TestLedgerIsBounded: far beyond its bound it holds the newest, counts what
// fell out, and those that hang end all the same.
func TestLedgerIsBounded(t *testing.T) {
	t.Parallel()
	p, l := startWith(t, Config{LedgerSize: 10}, "read-timeout:when=first=1", "ok")
	hanging := dial(t, l)
	send(t, hanging, get)
	waitFor(t, "a request that hangs", func() bool { return p.Stats()[0].Hung == 1 })
	nc := dial(t, l)
	br := bufio.NewReader(nc)
	for range 1000 {
		send(t, nc, get)
		io.Copy(io.Discard, readAnswer(t, br).Body)
	}
	waitFor(t, "the last entry's end", func() bool {
		all := p.Ledger().Entries(Query{})
		return all[len(all)-1].Ended()
	})
	all := p.Ledger().Entries(Query{})
	if len(all) != 10 || p.Ledger().Dropped() != 1003-10 {
		t.Fatalf("%d entries, %d dropped, want 10 and %d", len(all), p.Ledger().Dropped(), 1003-10)
	}
	for i, e := range all {
		if want := uint64(994 + i); e.Seq != want || e.Nth != 991+i || e.Kind != "request" {
			t.Errorf("entry %d: got seq %d, request %d, want %d, %d", i, e.Seq, e.Nth, want, 991+i)
		}
	}
	hanging.Close()
	waitFor(t, "the end of what hung", func() bool { return p.Stats()[0].Hung == 0 })
	if got := p.Stats()[0].ClientsLeft; got != 1 {
		t.Errorf("clients that left: %d, want 1", got)
	}
}

func TestLedgerQueries(t *testing.T) {
	t.Parallel()
	cfg := Config{Listeners: []ListenerConfig{{Name: "a"}, {Name: "b", Faults: []Spec{spec(t, "status")}}}}
	p, _ := startWith(t, cfg)
	var remotes []netip.AddrPort
	for _, l := range p.Listeners() {
		nc := dial(t, l)
		send(t, nc, get+get)
		br := bufio.NewReader(nc)
		for range 2 {
			io.Copy(io.Discard, readAnswer(t, br).Body)
		}
		remotes = append(remotes, localOf(nc))
		nc.Close()
		entryOf(t, p, nc, 3) // the connection's end
	}
	for _, tc := range []struct {
		name string
		q    Query
		want []uint64 // by seq
	}{
		{"all", Query{}, []uint64{1, 2, 3, 4, 5, 6}},
		{"one listener", Query{Listener: "b"}, []uint64{4, 5, 6}},
		{"one connection", Query{Remote: remotes[0]}, []uint64{1, 2, 3}},
		{"one request", Query{Remote: remotes[1], Nth: 2}, []uint64{6}},
		{"a request that never came", Query{Remote: remotes[1], Nth: 3}, []uint64{4}},
		{"after", Query{After: 4}, []uint64{5, 6}},
		{"the newest", Query{Limit: 1}, []uint64{6}},
		{"somebody else", Query{Remote: netip.MustParseAddrPort("127.0.0.1:1")}, nil},
		{"no such listener", Query{Listener: "c"}, nil},
	} {
		got := p.Ledger().Entries(tc.q)
		same := len(got) == len(tc.want)
		for i := range min(len(got), len(tc.want)) {
			same = same && got[i].Seq == tc.want[i]
		}
		if !same {
			t.Errorf("%s: %+v: got %+v, want %v", tc.name, tc.q, got, tc.want)
		}
	}
}

// TestLedgerWait: it waits for entries and for their end, and gives up in time.
func TestLedgerWait(t *testing.T) {
	t.Parallel()
	p, l := start(t, "slow:delay=100ms")
	began := time.Now()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := p.Ledger().Wait(short, Query{}); len(got) != 0 {
		t.Errorf("before anything: got %+v", got)
	}
	within(t, "giving up", time.Since(began), 50*time.Millisecond, 50*time.Millisecond)
	nc := dial(t, l)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if e := entryOf(t, p, nc, 1); e.How != "answered" {
				t.Errorf("got %+v", e)
			}
		})
	}
	send(t, nc, get)
	waitFor(t, "the request as it stands", func() bool {
		e := p.Ledger().Entries(Query{Remote: localOf(nc), Nth: 1})
		return len(e) == 1 && e[0].Kind == "request" && !e[0].Ended() && e[0].Asked == 100 && e[0].WholeAt > 0
	})
	wg.Wait()
}

func TestFeedMissesWhatNobodyTakes(t *testing.T) {
	t.Parallel()
	p, l := start(t, "ok")
	f := p.Ledger().Follow(2)
	for range 3 {
		nc := dial(t, l)
		send(t, nc, get)
		readAnswer(t, bufio.NewReader(nc))
		nc.Close()
		entryOf(t, p, nc, 2)
	}
	f.Close()
	f.Close()
	n := 0
	for range f.Entries() {
		n++
	}
	if missed := f.Missed(); n != 2 || missed != 4 {
		t.Errorf("got %d entries and %d missed, want 2 and 4", n, missed)
	}
}

// TestLedgerClear: what is cleared while it goes on leaves nothing behind.
func TestLedgerClear(t *testing.T) {
	t.Parallel()
	p, l := start(t, "read-timeout")
	nc := dial(t, l)
	send(t, nc, get)
	waitFor(t, "a request that hangs", func() bool { return p.Stats()[0].Hung == 1 })
	p.Ledger().Clear()
	if got := p.Ledger().Entries(Query{}); len(got) != 0 {
		t.Errorf("after Clear: %+v", got)
	}
	nc.Close()
	waitFor(t, "its end", func() bool { return p.Stats()[0].Open == 0 })
	var other net.Conn = dial(t, l)
	waitFor(t, "the next connection", func() bool {
		return len(p.Ledger().Entries(Query{Remote: localOf(other)})) == 1
	})
}
