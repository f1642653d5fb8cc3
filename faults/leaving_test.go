package faults

import (
	"crypto/tls"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLeavingIsSeenWhileWorkGoesOn: in every mode that accepts, a client that
// leaves is gone for the connection, for the counts and for the system at once,
// also where the work that it asked for goes on.
func TestLeavingIsSeenWhileWorkGoesOn(t *testing.T) {
	t.Parallel()
	work := "=" + worksFor.String()
	all := []*leaver{
		{fault: "ok", ended: true, effect: true},
		{fault: "silent"},
		{fault: "tls-timeout"},
		{fault: "read-timeout"},
		{fault: "slow:delay" + work, worksOn: true, effect: true},
		{fault: "slow:effect=no,delay" + work, worksOn: true},
		{fault: "drip:every=1s", effect: true},
		{fault: "drip-head:every=1s", effect: true},
		{fault: "stall", effect: true},
		{fault: "truncate", ended: true, effect: true},
		{fault: "reset", ended: true},
		{fault: "close", ended: true},
		{fault: "lost-response:delay" + work, worksOn: true, effect: true},
		{fault: "lost-response:then=reset,delay" + work, worksOn: true, effect: true},
		{fault: "lost-response:then=hang,delay" + work, worksOn: true, effect: true},
		{fault: "malformed", ended: true},
		{fault: "informational:every=1s"},
		{fault: "slow-read"},
		{fault: "slow-read:bytes=10,every=1s"},
		{fault: "status:delay" + work, worksOn: true},
		{fault: "rate-limit:rate=1", ended: true, effect: true},
		{fault: "overload:work" + work, worksOn: true, effect: true},
	}
	tried := map[string]bool{}
	all = slices.DeleteFunc(all, func(c *leaver) bool {
		f, err := Lookup(spec(t, c.fault).Name())
		if err != nil {
			t.Fatal(err)
		}
		tried[f.Name] = true
		return f.takesSlowly() && runtime.GOOS != "linux" // what is not read cannot be seen to end there
	})
	for _, f := range All() {
		if spec(t, f.Name).Level() != LevelPort && !tried[f.Name] {
			t.Errorf("%s is not among them", f.Name)
		}
	}
	runLeavers(t, all)
}

// TestWaysOfLeaving: however a client goes while work is done for it, it is seen.
func TestWaysOfLeaving(t *testing.T) {
	t.Parallel()
	all := []*leaver{
		{name: "closes"},
		{name: "resets", leave: func(_ *testing.T, nc net.Conn) { _ = nc.(*net.TCPConn).SetLinger(0); _ = nc.Close() }},
		{name: "with requests behind", leave: func(t *testing.T, nc net.Conn) { send(t, nc, get+get); _ = nc.Close() }},
		{name: "with too much behind", leave: func(t *testing.T, nc net.Conn) { send(t, nc, strings.Repeat("x", 4*maxSaved)); _ = nc.Close() }},
		{name: "ends its own side and waits", leave: halfClose},
		{name: "the same with a request behind", leave: func(t *testing.T, nc net.Conn) { send(t, nc, get); halfClose(t, nc) }},
		{name: "TLS with close_notify", tls: true},
		{name: "TLS without it", tls: true, leave: func(_ *testing.T, nc net.Conn) { _ = nc.(*tls.Conn).NetConn().Close() }},
	}
	for _, c := range all {
		c.fault, c.worksOn, c.effect = "slow:delay="+worksFor.String(), true, true
	}
	runLeavers(t, all)
	for _, c := range all {
		if s := c.p.Stats()[0]; s.Received != 1 || s.Processed != 1 {
			t.Errorf("%s: %+v, want one request and one effect: nobody waits for those behind", c.name, s)
		}
	}
}

// halfClose ends the client's sending side. The partner takes it for gone, and
// so ends its own.
func halfClose(t *testing.T, nc net.Conn) {
	if err := nc.(*net.TCPConn).CloseWrite(); err != nil {
		t.Error(err)
	}
	began := time.Now()
	if n, err := nc.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("got %d bytes, %v, want the end", n, err)
	}
	if took := time.Since(began); took > noticed+slack {
		t.Errorf("the end came after %v", took)
	}
	_ = nc.Close()
}

// TestOrphanedWorkIsBounded: what works on for nobody has its place among the
// connections until it is done.
func TestOrphanedWorkIsBounded(t *testing.T) {
	t.Parallel()
	leaves := func(delay string) (*Partner, Listener, *net.TCPConn) {
		p, l := startWith(t, Config{MaxConns: 1}, "slow:delay="+delay)
		nc := dial(t, l)
		send(t, nc, get)
		waitFor(t, "the request", func() bool { return p.Stats()[0].Received == 1 })
		_ = nc.Close()
		seenGone(t, p, nc, p.clock.now(), 1)
		return p, l, nc
	}
	p, l, _ := leaves("1h")
	if e := connectionOf(t, p, dial(t, l)); e.How != "overfull" {
		t.Errorf("a connection while the work goes on: %s, want overfull", e.How)
	}
	p, l, nc := leaves("3s")
	waitFor(t, "the effect", func() bool { return newest(p, nc).Effect })
	waitFor(t, "room for another", func() bool {
		another := dial(t, l)
		_, _ = another.Write([]byte(get)) // it may be closed by now
		time.Sleep(20 * time.Millisecond)
		return p.Stats()[0].Received == 2
	})
}

// TestStopsOrphanedWork: the partner does not wait for work that nobody waits for.
func TestStopsOrphanedWork(t *testing.T) {
	t.Parallel()
	p, l := start(t, "slow:delay=1h")
	nc := dial(t, l)
	send(t, nc, get)
	time.Sleep(100 * time.Millisecond)
	_ = nc.Close()
	seenGone(t, p, nc, p.clock.now(), 1)
	began := time.Now()
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	within(t, "Close", time.Since(began), 0, 2*time.Second)
	if e := newest(p, nc); e.EndedBy != "client" || e.OrphanedOverlap <= 0 || e.Effect {
		t.Errorf("the request: %+v, want ended by the client and the work until the end", e)
	}
}
