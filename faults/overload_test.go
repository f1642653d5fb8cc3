package faults

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// request sends a request with these header lines on a connection of its own.
func request(t testing.TB, l Listener, headers string) net.Conn {
	t.Helper()
	nc := dial(t, l)
	send(t, nc, "GET /path HTTP/1.1\r\nHost: h\r\n"+headers+"\r\n")
	return nc
}

// arrived waits until so many requests have come.
func arrived(t testing.TB, p *Partner, n uint64) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); p.Stats()[0].Received < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d requests came, want %d", p.Stats()[0].Received, n)
		}
	}
	time.Sleep(20 * time.Millisecond) // from being counted to being in line
}

func statusOn(t testing.TB, nc net.Conn) *http.Response {
	t.Helper()
	return readAnswer(t, bufio.NewReader(nc))
}

// The latency comes from the load: so many at once, the others wait their turn.
func TestOverloadLatencyEmerges(t *testing.T) {
	t.Parallel()
	p, l := start(t, "overload:workers=2,queue=10,work=100ms")
	conns := make([]net.Conn, 6)
	began := time.Now()
	for i := range conns {
		conns[i] = request(t, l, "")
	}
	var all sync.WaitGroup
	for i, nc := range conns {
		all.Go(func() {
			if r := statusOn(t, nc); r.StatusCode != http.StatusOK {
				t.Errorf("request %d: got status %d, want 200", i, r.StatusCode)
			}
		})
	}
	all.Wait()
	within(t, "3 rounds of 2", time.Since(began), 300*time.Millisecond, 300*time.Millisecond)
	for i, nc := range conns {
		e := entryOf(t, p, nc, 1)
		if e.Worked < 100 || e.Asked != 100 || e.Delay < e.Waited+99.9 || !e.Effect || e.Orphaned != 0 || e.OrphanedOverlap != 0 {
			t.Errorf("request %d: worked %v of %v ms, waited %v, delivered %v, effect %v, orphaned %v, %v",
				i, e.Worked, e.Asked, e.Waited, e.Delay, e.Effect, e.Orphaned, e.OrphanedOverlap)
		}
	}
}

// Full: shed at once, or after a wait for a place, and with the header asked for.
func TestOverloadSheds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, params, retry string
		low                 time.Duration
	}{
		{"at once", "", "1", 0},
		{"another header", ",retry-after=7", "7", 0},
		{"without it", ",retry-after=none", "", 0},
		{"after a wait", ",wait=150ms", "1", 150 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, l := start(t, "overload:workers=1,queue=1,work=10s"+c.params)
			request(t, l, "")
			arrived(t, p, 1)
			request(t, l, "")
			arrived(t, p, 2)
			began := time.Now()
			nc := request(t, l, "")
			r := statusOn(t, nc)
			within(t, "shed", time.Since(began), c.low, c.low)
			if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != c.retry {
				t.Errorf("got status %d, Retry-After %q, want 503 and %q", r.StatusCode, r.Header.Get("Retry-After"), c.retry)
			}
			if e := entryOf(t, p, nc, 1); e.Effect || e.Worked != 0 {
				t.Errorf("shed: effect %v, worked %v ms, want none", e.Effect, e.Worked)
			}
		})
	}
}

// Who waits for a place gets it when there is one.
func TestOverloadWaitsForAPlace(t *testing.T) {
	t.Parallel()
	for _, queue := range []int{0, 1} {
		t.Run(fmt.Sprint("queue ", queue), func(t *testing.T) {
			t.Parallel()
			p, l := start(t, fmt.Sprintf("overload:workers=1,queue=%d,work=50ms,wait=10s", queue))
			conns := make([]net.Conn, 5)
			for i := range conns {
				conns[i] = request(t, l, "")
			}
			for i, nc := range conns {
				if r := statusOn(t, nc); r.StatusCode != http.StatusOK {
					t.Errorf("request %d: got status %d, want 200", i, r.StatusCode)
				}
			}
			if n := p.Stats()[0].Processed; n != 5 {
				t.Errorf("%d effects, want 5", n)
			}
		})
	}
}

// What nobody waits for any more is worked on, unless it is to be dropped.
func TestOverloadDrops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		drop, headers string
		leaves        bool
		status        int
		worked        bool
	}{
		{"none", "", true, 0, true},
		{"gone", "", true, 0, false},
		{"deadline", "", true, 0, true},
		{"both", "", true, 0, false},
		{"none", "X-Request-Timeout-Ms: 50\r\n", false, 200, true},
		{"gone", "X-Request-Timeout-Ms: 50\r\n", false, 200, true},
		{"deadline", "X-Request-Timeout-Ms: 50\r\n", false, 504, false},
		{"both", "X-Request-Timeout-Ms: 50\r\n", false, 504, false},
		{"deadline", "X-Request-Timeout-Ms: 0\r\n", false, 504, false},
		{"deadline", "X-Request-Timeout-Ms: 60000\r\n", false, 200, true},
		{"deadline", "X-Request-Timeout-Ms: soon\r\n", false, 200, true},
		{"deadline", "", false, 200, true},
	} {
		t.Run(fmt.Sprintf("%s %q leaves %v", c.drop, c.headers, c.leaves), func(t *testing.T) {
			t.Parallel()
			p, l := start(t, "overload:workers=1,queue=1,work=400ms,drop="+c.drop)
			first := request(t, l, "")
			arrived(t, p, 1)
			nc := request(t, l, c.headers)
			arrived(t, p, 2)
			if c.leaves {
				_ = nc.Close()
			} else if r := statusOn(t, nc); r.StatusCode != c.status {
				t.Errorf("got status %d, want %d", r.StatusCode, c.status)
			}
			if r := statusOn(t, first); r.StatusCode != http.StatusOK {
				t.Errorf("the first: got status %d, want 200", r.StatusCode)
			}
			// A third waits behind the second's work, if that is done.
			third := request(t, l, "")
			statusOn(t, third)
			e := entryOf(t, p, nc, 1)
			if (e.Worked >= 400) != c.worked || e.Effect != c.worked {
				t.Errorf("worked %v ms, effect %v, want worked %v", e.Worked, e.Effect, c.worked)
			}
			wantLost := c.leaves && c.worked
			if (e.Orphaned >= 400) != wantLost || (e.OrphanedOverlap >= 400) != wantLost || e.Orphaned > e.Worked+1 {
				t.Errorf("orphaned %v and %v of %v ms, want all of it: %v", e.Orphaned, e.OrphanedOverlap, e.Worked, wantLost)
			}
		})
	}
}

// A place that is given up is another's.
func TestOverloadDropMakesRoom(t *testing.T) {
	t.Parallel()
	p, l := start(t, "overload:workers=1,queue=1,work=10s,drop=both")
	request(t, l, "")
	arrived(t, p, 1)
	for i := range 3 {
		nc := request(t, l, "X-Request-Timeout-Ms: 30\r\n")
		if r := statusOn(t, nc); r.StatusCode != http.StatusGatewayTimeout {
			t.Errorf("request %d: got status %d, want 504: the one before has left the queue", i, r.StatusCode)
		}
	}
	nc := request(t, l, "")
	arrived(t, p, 5)
	_ = nc.Close()
	entryOf(t, p, nc, 1)
	request(t, l, "")
	arrived(t, p, 6)
	if n := p.Stats()[0]; n.Received != 6 {
		t.Errorf("%+v", n)
	}
	for _, e := range p.Ledger().Entries(Query{}) {
		if e.Kind == "request" && e.Status == http.StatusServiceUnavailable {
			t.Errorf("shed although there was a place: %+v", e)
		}
	}
}

// Work begun before the client left is orphaned from then on, not from its start.
func TestOverloadOverlap(t *testing.T) {
	t.Parallel()
	p, l := start(t, "overload:workers=1,work=500ms")
	nc := request(t, l, "")
	arrived(t, p, 1)
	time.Sleep(100 * time.Millisecond)
	_ = nc.Close()
	e := entryOf(t, p, nc, 1)
	for end := time.Now().Add(5 * time.Second); e.Worked == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		e = entryOf(t, p, nc, 1)
	}
	if e.Orphaned != 0 || e.OrphanedOverlap <= 0 || e.OrphanedOverlap > e.Worked-99 {
		t.Errorf("orphaned %v, overlap %v of %v ms, want 0 and at most 400 or so", e.Orphaned, e.OrphanedOverlap, e.Worked)
	}
}

func TestOverloadRefusesBadRetryAfter(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"soon", "-1", "1.5", "", "99999999999"} {
		if s, err := Parse("overload:retry-after=" + v); err == nil {
			t.Errorf("Parse with retry-after=%q = %v, want an error", v, s)
		}
	}
}
