package budgetcaller

import (
	"net/netip"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// refusedPort returns a port of 127.0.0.1 that says no for as long as the test
// runs: bound and not listening, so nobody else can take it.
func refusedPort(t testing.TB) string {
	t.Helper()
	fd := socket(t)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
}

// The first address says nothing, the second answers: the call goes on after
// one stagger, not after the connect limit.
func TestSecondAddressAnswers(t *testing.T) {
	t.Parallel()
	hole := blackHole(t)
	serveAt(t, "127.0.0.2:"+portOf(hole), func(p *peer) { p.answers(answer("hi")) })
	for _, tt := range []struct {
		name  string
		addrs []string
		least time.Duration
	}{
		{"black hole first", []string{"127.0.0.1", "127.0.0.2"}, dialStagger},
		{"black hole twice", []string{"127.0.0.1", "127.0.0.1", "127.0.0.2"}, 2 * dialStagger},
		{"black hole last", []string{"127.0.0.2", "127.0.0.1"}, 0},
		// 127.0.0.3 listens on nothing there: it refuses at once.
		{"refused first", []string{"127.0.0.3", "127.0.0.2"}, 0},
		{"refused beside a black hole", []string{"127.0.0.1", "127.0.0.3", "127.0.0.2"}, dialStagger},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var addrs []netip.Addr
			for _, a := range tt.addrs {
				addrs = append(addrs, netip.MustParseAddr(a))
			}
			c := newCaller(t, Config{Limits: Limits{Connect: 3 * time.Second}, Lookup: lookup(nil, addrs...)})
			rec := once(t, c, 10*time.Second, get(t, "http://some.test:"+portOf(hole)+"/"))
			want{
				class: ClassOK, phases: in(PhaseBody), effects: answered(), status: 200, bytes: 2, expected: 2, least: tt.least,
			}.check(t, rec)
			if n := synSent(t, hole.Port()); n != 0 && !t.Failed() {
				// Other cases of this test dial the same port: wait for them.
				deadline := time.Now().Add(5 * time.Second)
				for synSent(t, hole.Port()) != 0 {
					if time.Now().After(deadline) {
						t.Fatalf("%d sockets are still dialling", n)
					}
					time.Sleep(20 * ms)
				}
			}
		})
	}
}

// More addresses than are tried in time: the limit ends them all.
func TestManyBlackHoles(t *testing.T) {
	t.Parallel()
	hole := blackHole(t)
	addrs := make([]netip.Addr, 40)
	for i := range addrs {
		addrs[i] = hole.Addr()
	}
	c := newCaller(t, Config{Limits: Limits{Connect: 600 * ms}, Lookup: lookup(nil, addrs...)})
	rec := once(t, c, 10*time.Second, get(t, "http://many.test:"+portOf(hole)+"/"))
	want{class: ClassConnectTimeout, limit: LimitConnect, phases: in(PhaseConnect), effects: none(), expected: -1, least: 600 * ms}.check(t, rec)
	if n := synSent(t, hole.Port()); n != 0 {
		t.Errorf("%d sockets are still dialling", n)
	}
}
