package budgetcaller

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// blackHole returns a loopback address that answers no SYN: a listener whose
// accept queue (0 + 1) is full.
func blackHole(t testing.TB) netip.AddrPort {
	t.Helper()
	fd := socket(t)
	loopback := [4]byte{127, 0, 0, 1}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: loopback}); err != nil {
		t.Fatalf("bind: %v", err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatalf("listen: %v", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatalf("getsockname: %v", err)
	}
	addr := name.(*syscall.SockaddrInet4)
	if err := syscall.Connect(socket(t), addr); err != nil {
		t.Fatalf("fill the queue: %v", err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4(loopback), uint16(addr.Port))
}

func socket(t testing.TB) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("socket: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	return fd
}

// synSent counts the sockets that are still dialling port (proc_net_tcp.txt:
// state 02 is SYN_SENT, addresses are in hexadecimal).
func synSent(t testing.TB, port uint16) int {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != "02" {
			continue
		}
		_, hex, _ := strings.Cut(f[2], ":")
		if p, err := strconv.ParseUint(hex, 16, 16); err == nil && uint16(p) == port {
			n++
		}
	}
	return n
}

func portOf(a netip.AddrPort) string { return strconv.Itoa(int(a.Port())) }
