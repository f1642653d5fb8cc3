package budgetcaller

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// slack is how much later than exact a thing may be on a machine that is busy
// with other tests but does not stall.
const slack = 400 * time.Millisecond

// spoils is how long a stall must be to change what comes of a call, and not only
// when: then it is made again.
const spoils = 100 * time.Millisecond

// late is how much later than exact a thing may be that began then and has just
// ended.
func late(began time.Time) time.Duration { return slack + machine.Room(began) }

// raw serves every connection of a loopback listener with handle and returns
// its URL. Connections are closed at the end of the test.
func raw(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveConns(t, ln, handle)
	return "http://" + ln.Addr().String() + "/"
}

func serveConns(t testing.TB, ln net.Listener, handle func(net.Conn)) {
	done := make(chan struct{})
	closing := make(chan struct{})
	go func() {
		defer close(done)
		var serving []chan struct{}
		for {
			c, err := ln.Accept()
			if err != nil {
				break
			}
			end := make(chan struct{})
			serving = append(serving, end)
			go func() {
				stop := context.AfterFunc(closedContext(closing), func() { _ = c.Close() })
				defer stop()
				defer close(end)
				defer func() { _ = c.Close() }()
				handle(c)
			}()
		}
		for _, end := range serving {
			<-end
		}
	}()
	t.Cleanup(func() {
		close(closing)
		_ = ln.Close()
		<-done
	})
}

func closedContext(ch <-chan struct{}) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-ch; cancel() }()
	return ctx
}

// readRequest reads one request's head and body.
func readRequest(c net.Conn) {
	buf := make([]byte, 64<<10)
	var head []byte
	for !bytes.Contains(head, []byte("\r\n\r\n")) {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		head = append(head, buf[:n]...)
	}
}

// hold keeps the connection until the other side goes.
func hold(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func newCaller(t testing.TB, cfg Config) *Caller {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// callOnce runs one GET under a budget and returns its record.
func callOnce(t testing.TB, c *Caller, url string, budget time.Duration) Record {
	t.Helper()
	ctx, cancel, err := Begin(t.Context(), budget)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	return do(t, ctx, c, url, nil, nil)
}

func do(t testing.TB, ctx context.Context, c *Caller, url string, body io.Reader, sink io.Writer) Record {
	t.Helper()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(ctx, req, sink)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return res.Last()
}
