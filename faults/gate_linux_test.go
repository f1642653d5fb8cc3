package faults

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestP4BlackHoleAtHome: connects to the black hole end at the caller's limit,
// one after the other (a few), at once (twenty), and later again (after a second,
// in which the black hole has been checked), and nothing is ever accepted.
func TestP4BlackHoleAtHome(t *testing.T) {
	t.Parallel()
	if os.Getenv(inNamespace) != "" {
		loopbackUp(t)
	}
	const limit = 300 * time.Millisecond
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0"} {
		p, l := blackHole(t, listen)
		try := func() {
			began := time.Now()
			nc, err := net.DialTimeout("tcp", l.Addresses[0].String(), limit)
			if err == nil {
				nc.Close()
			}
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("%s: connect: got %v, want a timeout", listen, err)
			}
			within(t, "connect", time.Since(began), limit, limit)
		}
		for range 5 {
			try()
		}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(try)
		}
		wg.Wait()
		time.Sleep(1200 * time.Millisecond) // the passive check has looked meanwhile
		try()
		if got := p.Stats()[0].Accepted; got != 0 {
			t.Errorf("%s: %d connections were accepted, want 0", listen, got)
		}
	}
}

// inNamespace, in the environment, says that the test runs in a network of its own,
// in which even loopback is still down.
const inNamespace = "FAULTS_TEST_IN_NAMESPACE"

// TestP4InANamespace: the same where there is no other network than loopback.
func TestP4InANamespace(t *testing.T) {
	t.Parallel()
	const same = "TestP4BlackHoleAtHome"
	cmd := exec.CommandContext(t.Context(), testBinary(t), "-test.v", "-test.run=^"+same+"$")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) { // forbidden, or none allowed
		t.Skipf("user namespaces are not allowed here: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+same) {
		t.Errorf("in the namespace: %v\n%s", err, out)
	}
}

// loopbackUp does what "ip link set lo up" would, which not every machine has.
func loopbackUp(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatalf("loopback in the namespace: %v", err)
	}
}

func blackHole(t *testing.T, listen string) (*Partner, Listener) {
	t.Helper()
	return startWith(t, Config{Listeners: []ListenerConfig{{Listen: listen, Faults: []Spec{spec(t, "connect-timeout")}}}})
}

// TestBlackHoleIsMended: a black hole that was opened is closed again, and it is
// said.
func TestBlackHoleIsMended(t *testing.T) {
	t.Parallel()
	events := make(chan Event, 10)
	p, _ := startWith(t, Config{
		Listeners: []ListenerConfig{{Faults: []Spec{spec(t, "connect-timeout")}}},
		Event:     func(e Event) { events <- e },
	})
	l := p.listeners[0]
	l.mu.Lock()
	fd, _, err := syscall.Accept(l.gates[0].fd)
	l.mu.Unlock()
	if err != nil {
		t.Fatalf("accept the filler: %v", err)
	}
	defer syscall.Close(fd)
	select {
	case e := <-events:
		if !strings.Contains(e.Text, "closed again") {
			t.Errorf("event: got %q, want one that says it was closed again", e.Text)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("no event within 5 s")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if full, err := l.gates[0].black(); !full || err != nil {
		t.Errorf("black() = %v, %v, want true", full, err)
	}
}

// TestRefusedHoldsItsPort: nobody else gets the port, whatever they try, and
// every connect is refused at once.
func TestRefusedHoldsItsPort(t *testing.T) {
	t.Parallel()
	_, l := start(t, "refused")
	addr := l.Addresses[0]
	if ln, err := net.Listen("tcp", addr.String()); err == nil {
		ln.Close()
		t.Errorf("another listener got %s", addr)
	}
	if g, err := openGate(addr); err == nil {
		g.close()
		t.Errorf("another partner got %s", addr)
	} else if !strings.Contains(err.Error(), "taken") {
		t.Errorf("openGate: got %v, want that the port is taken", err)
	}
	for range 100 {
		began := time.Now()
		nc, err := net.Dial("tcp", addr.String())
		if err == nil {
			nc.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("connect: got %v, want refused", err)
		}
		within(t, "connect", time.Since(began), 0, time.Millisecond)
	}
}

// TestGateGoesFromStateToState: the same port through all states and back.
func TestGateGoesFromStateToState(t *testing.T) {
	t.Parallel()
	g, err := openGate(loopback())
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	port := g.addr
	for _, to := range []portState{portOpen, portBlackHole, portOpen, portRefused, portBlackHole, portRefused, portOpen} {
		if err := g.set(to); err != nil {
			t.Fatalf("set(%d): %v", to, err)
		}
		nc, err := net.DialTimeout("tcp", port.String(), 500*time.Millisecond)
		if err == nil {
			nc.Close()
		}
		var got portState
		var timeout net.Error
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			got = portRefused
		case errors.As(err, &timeout) && timeout.Timeout():
			got = portBlackHole
		case err != nil:
			t.Fatalf("after set(%d): %v", to, err)
		}
		if got != to {
			t.Errorf("after set(%d): the port does %d", to, got)
		}
		if g.addr != port {
			t.Errorf("the port changed from %v to %v", port, g.addr)
		}
	}
}

// TestFreePortsAreNotShared: many partners that start at once get a port each.
func TestFreePortsAreNotShared(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]bool{}
	for range 8 {
		wg.Go(func() {
			for range 50 {
				g, err := openGate(loopback())
				if err != nil {
					t.Errorf("openGate: %v", err)
					return
				}
				t.Cleanup(g.close) // held until all have theirs
				mu.Lock()
				if seen[g.addr.String()] {
					t.Errorf("%v was given twice", g.addr)
				}
				seen[g.addr.String()] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
