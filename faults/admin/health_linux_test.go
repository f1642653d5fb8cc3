package admin

import (
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaoslab/faults"
)

// TestHealthTellsOfAnOpenBlackHole: a port that is to answer no connect and does
// is named, until it is black again.
func TestHealthTellsOfAnOpenBlackHole(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "ok", "connect-timeout")
	h := Handler(p, false)
	ask := func() (int, string) {
		r := httptest.NewRequest("GET", "/healthz", nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if code, body := ask(); code != 200 || body != "ok\n" {
		t.Fatalf("as started: got %d %q, want 200 ok", code, body)
	}
	hole := p.Listeners()[1]
	fd := listeningOn(t, hole)
	// The partner looks once a second by itself, and may be faster once.
	var code int
	var body string
	for range 10 {
		filler, _, err := syscall.Accept(fd)
		if err != nil {
			t.Fatalf("take the connection out of the queue: %v", err)
		}
		code, body = ask()
		syscall.Close(filler)
		if code != 200 {
			break
		}
	}
	addr := hole.Addresses[0].String()
	if want := "connect-timeout: the black hole " + addr + " is open: it answers connects\n"; code != 503 || body != want {
		t.Errorf("while it is open: got %d %q, want 503 %q", code, body, want)
	}
	for range 1000 { // it is mended within about a second
		if code, _ = ask(); code == 200 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("it stays at %d, %q", code, body)
}

// listeningOn returns this process's descriptor of l's port.
func listeningOn(t *testing.T, l faults.Listener) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range all {
		fd, _ := strconv.Atoi(entry.Name())
		listens, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
		if err != nil || listens != 1 {
			continue
		}
		if sa, err := syscall.Getsockname(fd); err == nil {
			if in, ok := sa.(*syscall.SockaddrInet4); ok && strings.HasSuffix(l.URL, ":"+strconv.Itoa(in.Port)) {
				return fd
			}
		}
	}
	t.Fatalf("no descriptor listens on %s", l.URL)
	return -1
}
