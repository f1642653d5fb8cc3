package budgetcaller

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// What may be sent twice, and what not.
func TestB2WhatMayBeSentTwice(t *testing.T) {
	t.Parallel()
	closed := func(reset bool) func(net.Conn) {
		return func(c net.Conn) {
			readRequest(c)
			if tcp := c.(*net.TCPConn); reset {
				_ = tcp.SetLinger(0)
			}
		}
	}
	hang := func(c net.Conn) { readRequest(c); hold(c) }
	for _, tt := range []struct {
		name     string
		serve    func(net.Conn) // nil: a refused port
		key      bool
		attempts int
		effect   Effect
	}{
		{"refused", nil, false, 3, EffectNone},
		{"hang", hang, false, 1, EffectUnknown},
		{"reset", closed(true), false, 1, EffectUnknown},
		{"response lost", closed(false), false, 1, EffectUnknown},
		{"hang with a key", hang, true, 3, EffectUnknown},
		{"reset with a key", closed(true), true, 3, EffectUnknown},
		{"response lost with a key", closed(false), true, 3, EffectUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			conns := 0
			url := refusedURL(t)
			if tt.serve != nil {
				url = raw(t, func(c net.Conn) {
					mu.Lock()
					conns++
					mu.Unlock()
					tt.serve(c)
				})
			}
			c := newCaller(t, Config{Default: Dependency{
				Limits: Limits{Connect: 200 * time.Millisecond, Attempt: 400 * time.Millisecond},
				Retry:  fixed(3, 50*time.Millisecond),
			}})
			req := request(t, "POST", url, "amount=1")
			if tt.key {
				req.Header.Set("Idempotency-Key", "k1")
			}
			_, _, err := ask(t, c, 3*time.Second, req)
			var e *Error
			if !errors.As(err, &e) || len(e.Attempts) != tt.attempts || e.Effect != tt.effect {
				t.Fatalf("got %v, want %d attempts with effect %v", err, tt.attempts, tt.effect)
			}
			mu.Lock()
			defer mu.Unlock()
			if tt.serve != nil && conns != tt.attempts {
				t.Errorf("partner saw %d, reported %d", conns, tt.attempts)
			}
		})
	}
	t.Run("answered in the end by a partner that remembers keys", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		processed := map[string]bool{}
		s := newScript(t, func(n int, w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			processed[r.Header.Get("Idempotency-Key")] = true
			mu.Unlock()
			if n == 1 {
				panic(http.ErrAbortHandler) // the work is done, the answer lost
			}
		})
		c := newCaller(t, Config{Default: Dependency{Retry: fixed(3, 50*time.Millisecond)}})
		req := request(t, "POST", s.url, "amount=1")
		req.Header.Set("Idempotency-Key", "k1")
		answer, _, err := ask(t, c, 3*time.Second, req)
		if err != nil || !answer.OK() || len(answer.Result.Attempts) != 2 || len(processed) != 1 || len(s.seen()) != 2 {
			t.Errorf("answer %+v, error %v, processed %v, seen %v", answer, err, processed, s.seen())
		}
	})
}

// refusedURL is a port that nothing listens on: it was free a moment ago, and
// what is bound to it does not listen.
func refusedURL(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return "http://" + ln.Addr().String() + "/"
}
