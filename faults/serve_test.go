package faults

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHTTP: the server under the faults speaks HTTP/1.1 as its clients expect.
func TestHTTP(t *testing.T) {
	t.Parallel()
	post := func(version, headers, body string) string {
		return "POST / HTTP/" + version + "\r\nHost: h\r\n" + headers + "\r\n" + body
	}
	for _, tc := range []struct {
		name, send string
		want       []int // the status of each answer
		closes     bool
		requests   int64 // bytes of the first request's body
	}{
		{name: "get", send: get, want: []int{200}},
		{name: "pipelined", send: get + get + get, want: []int{200, 200, 200}},
		{name: "close", send: "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", want: []int{200}, closes: true},
		{name: "1.0", send: "GET / HTTP/1.0\r\n\r\n", want: []int{200}, closes: true},
		{name: "1.0 keep-alive", send: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", want: []int{200}},
		{name: "head", send: "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", want: []int{200}},
		{name: "length", send: post("1.1", "Content-Length: 5\r\n", "hello"), want: []int{200}, requests: 5},
		{name: "chunked", send: post("1.1", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n") + get, want: []int{200, 200}, requests: 5},
		{name: "length and chunked", send: post("1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "7\r\nhello!!\r\n0\r\n\r\n") + get, want: []int{200}, closes: true, requests: 7},
		{name: "chunked and length, in other letters", send: post("1.1", "TRANSFER-ENCODING: chunked\r\nx: y\r\ncontent-length:5\r\n", "5\r\nhello\r\n0\r\n\r\n") + get, want: []int{200}, closes: true, requests: 5},
		{name: "1.0 chunked", send: "GET / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + get, want: []int{200}, closes: true},
		{name: "a length in the body of a chunked one", send: post("1.1", "Transfer-Encoding: chunked\r\n", "15\r\n\r\nContent-Length: 5\r\n\r\n0\r\n\r\n") + get, want: []int{200, 200}, requests: 21},
		{name: "a length before a chunked one", send: post("1.1", "Content-Length: 5\r\n", "hello") + post("1.1", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n") + get, want: []int{200, 200, 200}, requests: 5},
		{name: "both lengths, and they differ", send: post("1.1", "Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), want: []int{400}, closes: true},
		{name: "broken chunk", send: post("1.1", "Transfer-Encoding: chunked\r\n", "zz\r\nhello\r\n"), want: []int{400}, closes: true},
		{name: "expect", send: post("1.1", "Content-Length: 2\r\nExpect: 100-continue\r\n", "hi"), want: []int{100, 200}, requests: 2},
		{name: "expect something else", send: post("1.1", "Content-Length: 2\r\nExpect: more\r\n", "hi"), want: []int{417}, closes: true},
		{name: "not HTTP", send: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", want: []int{400}, closes: true},
		{name: "no host", send: "GET / HTTP/1.1\r\n\r\n", want: []int{400}, closes: true},
		{name: "HTTP/2", send: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", want: []int{505}, closes: true},
		{name: "a later major version", send: "GET / HTTP/2.0\r\nHost: h\r\n\r\n", want: []int{505}, closes: true},
		{name: "an earlier major version", send: "GET / HTTP/0.9\r\nHost: h\r\n\r\n", want: []int{505}, closes: true},
		{name: "a later minor version", send: "GET / HTTP/1.2\r\nHost: h\r\n\r\n" + get, want: []int{200, 200}},
		{name: "long head", send: "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", maxHead) + "\r\n\r\n", want: []int{431}, closes: true},
		{name: "long body", send: post("1.1", "Content-Length: 10000000\r\n", strings.Repeat("x", 200000)), want: []int{413}, closes: true},
		{name: "long key", send: "GET / HTTP/1.1\r\nHost: h\r\nIdempotency-Key: " + strings.Repeat("k", maxKey+1) + "\r\n\r\n", want: []int{400}, closes: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, l := startWith(t, Config{MaxBody: 100_000}, "ok")
			nc := dial(t, l)
			go nc.Write([]byte(tc.send)) // a refused request is not read to its end
			br := bufio.NewReader(nc)
			method := strings.Fields(tc.send)[0]
			for i, want := range tc.want {
				r, err := http.ReadResponse(br, &http.Request{Method: method})
				if err != nil {
					t.Fatalf("answer %d: %v", i+1, err)
				}
				body, err := io.ReadAll(r.Body)
				if r.StatusCode != want || err != nil {
					t.Fatalf("answer %d: got %s %q, %v, want status %d", i+1, r.Status, body, err, want)
				}
				if (len(body) == 0) != (method == "HEAD" || want == 100) {
					t.Errorf("answer %d to %s: body %q", i+1, method, body)
				}
			}
			_ = nc.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if tc.closes {
				_ = nc.SetReadDeadline(time.Now().Add(5 * time.Second))
			}
			if _, err := br.ReadByte(); (err == io.EOF) != tc.closes {
				t.Errorf("after the answer: got %v, want the end: %v", err, tc.closes)
			}
			if e := entryOf(t, p, nc, 1); e.Body != tc.requests && tc.requests > 0 {
				t.Errorf("the ledger tells %d bytes of body, want %d", e.Body, tc.requests)
			}
		})
	}
}

// TestSlowSenders: what does not come to its end is bounded in time, and gets a
// clear answer where one is possible.
func TestSlowSenders(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, send string
		drip       string // sent again and again, slower than the bound allows in all
		want       int    // 0: closed without an answer
	}{
		{name: "nothing", want: 0},
		{name: "half a head", send: "GET / HTTP/1.1\r\nHo", want: 408},
		{name: "a head that drips", send: "GET / HTTP/1.1\r\nX: ", drip: "x", want: 408},
		{name: "half a body", send: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf", want: 408},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, l := startWith(t, Config{ReadTimeout: 300 * time.Millisecond, IdleTimeout: 300 * time.Millisecond}, "ok")
			began := time.Now() // the silence begins with the connection
			nc := dial(t, l)
			send(t, nc, tc.send)
			stop := make(chan struct{})
			defer close(stop)
			if tc.drip != "" {
				go func() {
					for {
						select {
						case <-time.After(20 * time.Millisecond):
							_, _ = nc.Write([]byte(tc.drip))
						case <-stop:
							return
						}
					}
				}()
			}
			r, err := http.ReadResponse(bufio.NewReader(nc), nil)
			within(t, "end", time.Since(began), 300*time.Millisecond, 300*time.Millisecond+sweepEvery)
			switch {
			case tc.want == 0 && err == nil:
				t.Errorf("got %s, want no answer", r.Status)
			case tc.want != 0 && (err != nil || r.StatusCode != tc.want):
				t.Errorf("got %v, %v, want status %d", r, err, tc.want)
			}
		})
	}
}

// TestParkedConnectionServesOn: a connection that was idle for longer than a
// goroutine waits is served as before.
func TestParkedConnectionServesOn(t *testing.T) {
	t.Parallel()
	p, l := start(t, "ok")
	nc := dial(t, l)
	br := bufio.NewReader(nc)
	for range 3 {
		send(t, nc, get)
		io.Copy(io.Discard, readAnswer(t, br).Body)
		time.Sleep(parkAfter + 2*sweepEvery)
	}
	nc.Close()
	if e := entryOf(t, p, nc, 4); e.Kind != "connection" || e.Nth != 3 || e.EndedBy != "client" {
		t.Errorf("the connection's entry: got %+v, want 3 requests and an end by the client", e)
	}
}

// TestManySilentConnections: more than the bound are closed at once, the others
// cost no goroutine. It is some hundred here, for the descriptors that a test may
// have; scripts/bench-partner opens the whole ten thousand.
func TestManySilentConnections(t *testing.T) {
	t.Parallel()
	p, l := startWith(t, Config{MaxConns: 500}, "ok")
	for range 600 {
		dial(t, l)
	}
	s := p.Stats()[0]
	for until := time.Now().Add(5 * time.Second); (s.Open != 500 || s.Accepted != 600) && time.Now().Before(until); s = p.Stats()[0] {
		time.Sleep(5 * time.Millisecond)
	}
	if s.Open != 500 || s.Accepted != 600 {
		t.Errorf("open %d of %d accepted, want 500 of 600", s.Open, s.Accepted)
	}
}

// TestLocalhostIsBoth: localhost is IPv4 and, where there is one, IPv6, on one
// port.
func TestLocalhostIsBoth(t *testing.T) {
	t.Parallel()
	if nc, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skipf("no IPv6 loopback here: %v", err)
	} else {
		nc.Close()
	}
	_, l := startWith(t, Config{Listeners: []ListenerConfig{{Listen: "localhost:0"}}})
	if len(l.Addresses) != 2 || l.Addresses[0].Port() != l.Addresses[1].Port() {
		t.Fatalf("addresses: %v, want two with one port", l.Addresses)
	}
	for _, a := range l.Addresses {
		l.Addresses[0] = a
		if got := ask(t, l); got != 200 {
			t.Errorf("%v: got %d, want 200", a, got)
		}
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	_, taken := start(t, "ok")
	for _, tc := range []struct {
		name string
		cfg  ListenerConfig
		want string
	}{
		{"taken", ListenerConfig{Listen: taken.Addresses[0].String()}, "taken"},
		{"not loopback", ListenerConfig{Listen: "0.0.0.0:0"}, "not loopback"},
		{"a name", ListenerConfig{Listen: "example.com:80"}, "an IP address or localhost"},
		{"no port", ListenerConfig{Listen: "127.0.0.1"}, "write HOST:PORT"},
		{"bad port", ListenerConfig{Listen: "127.0.0.1:x"}, "a number from 0"},
	} {
		p, err := Start(Config{Listeners: []ListenerConfig{tc.cfg}})
		if err == nil {
			p.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}
