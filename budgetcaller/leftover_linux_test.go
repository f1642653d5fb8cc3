package budgetcaller

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sockets counts our own ends of connections to port, by the state that
// /proc/net/tcp gives (proc_net_tcp.txt; 01 is ESTABLISHED, 02 SYN_SENT).
func sockets(t testing.TB, port uint16) map[string]int {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]int{}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		_, hex, _ := strings.Cut(f[2], ":")
		if p, err := strconv.ParseUint(hex, 16, 16); err == nil && uint16(p) == port {
			states[f[3]]++
		}
	}
	return states
}

func (w *wire) port() uint16 { return netip.MustParseAddrPort(w.host).Port() }

// Nothing dials on after a call has ended, however it was cut.
func TestNothingDialsOn(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{
		"connect": {Connect: 100 * ms}, "attempt": {Attempt: 100 * ms}, "budget": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hole := blackHole(t)
			c := newCaller(t, Config{Limits: limits, Lookup: lookup(nil, hole.Addr(), hole.Addr())})
			for _, host := range []string{"127.0.0.1", "two.test"} {
				rec := once(t, c, 150*ms, get(t, "http://"+host+":"+portOf(hole)))
				if rec.Phase != PhaseConnect || rec.Effect != EffectNone {
					t.Errorf("%v in %v (%v)", rec.Class, rec.Phase, rec.Err)
				}
				if n := sockets(t, hole.Port())["02"]; n != 0 {
					t.Errorf("%s: %d sockets are still dialling", host, n)
				}
			}
		})
	}
}

// After Close no connection is left, neither idle ones nor those that were cut
// in whatever state.
func TestNothingStaysOpen(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) {
		for req := p.request(); req != nil; req = p.request() {
			switch req.URL.Path {
			case "/ok":
				p.send(answer("hi"))
			case "/half":
				p.send(half())
			}
		}
	})
	c := newCaller(t, Config{Limits: Limits{Read: 50 * ms, Connect: 100 * ms}})
	var wg sync.WaitGroup
	for range 10 {
		for _, url := range []string{w.url("/ok"), w.url("/half"), w.url("/silent"), "https://" + w.host} {
			wg.Go(func() { once(t, c, 5*time.Second, get(t, url)) })
		}
	}
	wg.Wait()
	c.Close()
	// What we closed may wait for the partner's end, but is not established.
	// The partner's end of it is in the same table, and hears of it a moment later.
	left := sockets(t, w.port())
	for until := time.Now().Add(time.Second); left["01"] != 0 && time.Now().Before(until); left = sockets(t, w.port()) {
		time.Sleep(ms)
	}
	if left["01"] != 0 {
		t.Errorf("%d connections are still established: %v", left["01"], left)
	}
}
