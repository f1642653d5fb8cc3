package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// dialAll is a helper: it connects to each "ADDRESS LIMIT" at once and prints
// "ADDRESS HOW ELAPSED" for each. The address "hole" is a black hole on
// loopback, "listener" a port there that answers.
func dialAll(args []string) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, arg := range args {
		all.Go(func() {
			address, limit, _ := strings.Cut(arg, " ")
			d, err := time.ParseDuration(limit)
			if err != nil {
				panic(err)
			}
			how, elapsed := dial(target(address), d)
			mu.Lock()
			defer mu.Unlock()
			fmt.Println(address, how, elapsed)
		})
	}
	all.Wait()
	os.Stdout.Sync()
}

func dial(address string, limit time.Duration) (string, time.Duration) {
	d := net.Dialer{Timeout: limit}
	start := time.Now()
	conn, err := d.Dial("tcp", address)
	elapsed := time.Since(start)
	var errno syscall.Errno
	switch {
	case err == nil:
		conn.Close()
		return "connected", elapsed
	case errors.As(err, &errno):
		return unix.ErrnoName(errno), elapsed
	case isTimeout(err):
		return "limit", elapsed
	}
	return strings.ReplaceAll(err.Error(), " ", "_"), elapsed
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func target(address string) string {
	switch address {
	case "listener":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		return l.Addr().String()
	case "hole":
		return loopbackHole()
	}
	return address
}

// loopbackHole is a listener whose accept queue of one is full.
func loopbackHole() string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = unix.Listen(fd, 0)
	}
	if err != nil {
		panic(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		panic(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	if how, _ := dial(address, time.Second); how != "connected" {
		panic("filler: " + how)
	}
	return address
}

type dialed struct {
	how     string
	elapsed time.Duration
}

func dialInside(t *testing.T, opts Options, args ...string) map[string]dialed {
	t.Helper()
	cmd := inSandbox(t, opts, "dial", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("dial %q: %v", args, err)
	}
	results := map[string]dialed{}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 3 {
			t.Fatalf("dial %q: line %q", args, lines.Text())
		}
		elapsed, err := time.ParseDuration(f[2])
		if err != nil {
			t.Fatal(err)
		}
		results[f[0]] = dialed{f[1], elapsed}
	}
	return results
}

func TestBlackHoleIsBlackAndNothingElseIsThere(t *testing.T) {
	t.Parallel()
	const limit = 300 * time.Millisecond
	cases := []struct {
		name, address, how string
		least, most        time.Duration
	}{
		{"the usual address", "192.0.2.1:80", "limit", limit, limit + slack},
		{"the network's own address", "192.0.2.0:80", "limit", limit, limit + slack},
		{"in the middle", "192.0.2.77:65535", "limit", limit, limit + slack},
		{"the gateway of the route", "192.0.2.254:22", "limit", limit, limit + slack},
		{"the broadcast address", "192.0.2.255:1", "limit", limit, limit + slack},
		{"loopback answers", "listener", "connected", 0, slack},
		{"loopback refuses", "127.0.0.1:1", "ECONNREFUSED", 0, slack},
		{"loopback, IPv6", "[::1]:1", "ECONNREFUSED", 0, slack},
		{"below the network", "192.0.1.255:80", "ENETUNREACH", 0, slack},
		{"above the network", "192.0.3.0:80", "ENETUNREACH", 0, slack},
		{"TEST-NET-2", "198.51.100.1:80", "ENETUNREACH", 0, slack},
		{"TEST-NET-3", "203.0.113.1:80", "ENETUNREACH", 0, slack},
		{"a private network", "10.0.0.1:80", "ENETUNREACH", 0, slack},
		{"documentation, IPv6", "[2001:db8::1]:80", "ENETUNREACH", 0, slack},
	}
	args := make([]string, len(cases))
	for i, c := range cases {
		args[i] = c.address + " " + limit.String()
	}
	got := dialInside(t, Options{}, args...)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := got[c.address]
			if strings.HasPrefix(c.address, "[::1]") && g.how == "EADDRNOTAVAIL" {
				t.Skip("no IPv6 on this system")
			}
			if g.how != c.how || g.elapsed < c.least || g.elapsed > c.most {
				t.Errorf("connect %s with limit %v: %s after %v, want %s after %v to %v",
					c.address, limit, g.how, g.elapsed, c.how, c.least, c.most)
			}
		})
	}
}

// The kernel's own limit, here and on loopback alike, well within ours.
func TestSynRetriesMakeTheKernelGiveUp(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{1, 2} {
		t.Run(fmt.Sprint(retries), func(t *testing.T) {
			t.Parallel()
			nominal := GiveUp(retries)
			got := dialInside(t, Options{SynRetries: retries}, "192.0.2.1:80 10s", "hole 10s")
			for _, address := range []string{"192.0.2.1:80", "hole"} {
				g := got[address]
				t.Logf("tcp_syn_retries=%d, %s: %s after %v, nominally %v", retries, address, g.how, g.elapsed, nominal)
				if g.how != "ETIMEDOUT" || g.elapsed < nominal || g.elapsed > nominal+slack {
					t.Errorf("tcp_syn_retries=%d, connect %s with limit 10s: %s after %v, want ETIMEDOUT after %v to %v",
						retries, address, g.how, g.elapsed, nominal, nominal+slack)
				}
			}
		})
	}
}

func TestSynRetriesStayInside(t *testing.T) {
	t.Parallel()
	const path = "/proc/sys/net/ipv4/tcp_syn_retries"
	before := readSetting(path)
	for _, want := range []string{"1", "127"} {
		var n int
		fmt.Sscan(want, &n)
		need(t)
		cmd, err := Command(t.Context(), Options{SynRetries: n}, "cat", path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("SynRetries %d: inside %s is %q, %v; want %s", n, path, got, err, want)
		}
	}
	if after := readSetting(path); after != before {
		t.Errorf("outside %s was %s, is %s", path, before, after)
	}
}
