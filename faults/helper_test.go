package faults

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The slack of every test that looks at the time: what a machine may add that is
// busy with other things, and has left a process waiting for over a second. That
// the figures are good is for scripts/bench-partner to show.
const slack = 2 * time.Second

// within holds that d is at least low, and at most high and the slack.
func within(t *testing.T, what string, d, low, high time.Duration) {
	t.Helper()
	if d < low || d > high+slack {
		t.Errorf("%s: got %v, want %v to %v (and %v of slack)", what, d, low, high, slack)
	}
}

func spec(t testing.TB, text string) Spec {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return s
}

// start starts a partner with one listener that has these faults in a row.
func start(t testing.TB, faults ...string) (*Partner, Listener) {
	t.Helper()
	return startWith(t, Config{}, faults...)
}

func startWith(t testing.TB, cfg Config, faults ...string) (*Partner, Listener) {
	t.Helper()
	lc := ListenerConfig{}
	for _, f := range faults {
		lc.Faults = append(lc.Faults, spec(t, f))
	}
	if len(cfg.Listeners) == 0 {
		cfg.Listeners = []ListenerConfig{lc}
	}
	p, err := Start(cfg)
	if err != nil {
		t.Fatalf("Start(%v): %v", faults, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p, p.Listeners()[0]
}

// dial connects to the listener and gives up after 10 s in all.
func dial(t testing.TB, l Listener) *net.TCPConn {
	t.Helper()
	nc, err := net.DialTimeout("tcp", l.Addresses[0].String(), 5*time.Second)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
	return nc.(*net.TCPConn)
}

func send(t testing.TB, nc net.Conn, text string) {
	t.Helper()
	if _, err := nc.Write([]byte(text)); err != nil {
		t.Fatalf("send: %v", err)
	}
}

const get = "GET /path HTTP/1.1\r\nHost: h\r\n\r\n"

// readAnswer reads the next answer on nc, without its body.
func readAnswer(t testing.TB, br *bufio.Reader) *http.Response {
	t.Helper()
	r, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatalf("answer: %v", err)
	}
	return r
}

func localOf(nc net.Conn) netip.AddrPort { return nc.LocalAddr().(*net.TCPAddr).AddrPort() }

// entryOf waits until the nth request of nc has ended and returns its entry, or
// the connection's if there was none.
func entryOf(t testing.TB, p *Partner, nc net.Conn, nth int) Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	entries := p.Ledger().Wait(ctx, Query{Remote: localOf(nc), Nth: nth})
	if len(entries) != 1 || !entries[0].Ended() {
		t.Fatalf("ledger for %v, request %d: got %+v, want one entry that has ended", localOf(nc), nth, entries)
	}
	return entries[0]
}

func loopback() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }

// testBinary returns this test's own program.
func testBinary(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// needs skips a test of a fault that this system cannot do.
func needs(t *testing.T, fault string) {
	t.Helper()
	f, err := Lookup(fault)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Supported(); err != nil {
		t.Skip(err)
	}
}
