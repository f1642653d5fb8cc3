package deadline_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller/deadline"
)

func wrap(t testing.TB, cfg deadline.Config, next http.Handler) http.Handler {
	t.Helper()
	adopt, err := deadline.Middleware(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return adopt(next)
}

// serve starts a server on loopback that is closed at the end of the test.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestMiddlewareSetsTheDeadline(t *testing.T) {
	t.Parallel()
	left := func(w http.ResponseWriter, r *http.Request) {
		until, ok := r.Context().Deadline()
		fmt.Fprintf(w, "%v %v", ok, time.Until(until) > 10*time.Second && time.Until(until) <= 20*time.Second)
	}
	for _, c := range []struct {
		name string
		cfg  deadline.Config
		h    http.Header
	}{
		{"from the header", deadline.Config{}, headers(one("20000"), nil)},
		{"from the cap", deadline.Config{Cap: 20 * time.Second}, headers(one("1e9"), nil)},
		{"hook set", deadline.Config{Cap: 20 * time.Second, OnOrphaned: func(deadline.Orphaned) {}}, nil},
		{"arrived earlier", deadline.Config{Arrived: ago(5 * time.Second)}, headers(one("25000"), nil)},
		{"arrived later than now", deadline.Config{Cap: 20 * time.Second, Arrived: ago(-time.Hour)}, nil},
		{"arrival not known", deadline.Config{Cap: 20 * time.Second, Arrived: func(*http.Request) time.Time { return time.Time{} }}, nil},
		{"arrival by the wall clock alone", deadline.Config{Arrived: func(r *http.Request) time.Time { return ago(5 * time.Second)(r).Round(0) }}, headers(one("25000"), nil)},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header = c.h
		w := httptest.NewRecorder()
		wrap(t, c.cfg, http.HandlerFunc(left)).ServeHTTP(w, r)
		if got := w.Body.String(); w.Code != http.StatusOK || got != "true true" {
			t.Errorf("%s: headers %v: got %d %q, want 200 and a deadline in 10 to 20 s", c.name, c.h, w.Code, got)
		}
	}
}

func ago(d time.Duration) func(*http.Request) time.Time {
	return func(*http.Request) time.Time { return time.Now().Add(-d) }
}

func TestMiddlewareOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  deadline.Config
		h    http.Header
		want deadline.Verdict
	}{
		{"zero", deadline.Config{}, headers(one("0"), nil), deadline.Verdict{By: deadline.ByTimeout, Over: true, Timeout: deadline.Read}},
		{"a moment that is past", deadline.Config{}, headers(nil, one(fmt.Sprint(time.Now().Add(-time.Second).UnixMilli()))), deadline.Verdict{By: deadline.ByMoment, Over: true, Deadline: deadline.Read}},
		{"waited before us", deadline.Config{Arrived: ago(300 * ms)}, headers(one("250"), nil), deadline.Verdict{By: deadline.ByTimeout, Over: true, Timeout: deadline.Read}},
	} {
		var told []deadline.Verdict
		c.cfg.OnOver = func(r *http.Request, v deadline.Verdict) {
			if r.URL.Path != "/pay" {
				t.Errorf("%s: told of %s, want /pay", c.name, r.URL.Path)
			}
			told = append(told, v)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pay", strings.NewReader("x"))
		r.Header = c.h
		w := httptest.NewRecorder()
		wrap(t, c.cfg, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Errorf("%s: headers %v: the handler was called", c.name, c.h)
		})).ServeHTTP(w, r)
		if w.Code != http.StatusGatewayTimeout || w.Body.String() != "deadline already over: nothing was done\n" {
			t.Errorf("%s: headers %v: got %d %q, want 504 and the reason", c.name, c.h, w.Code, w.Body)
		}
		if len(told) != 1 || told[0] != c.want {
			t.Errorf("%s: OnOver got %+v, want %+v once", c.name, told, c.want)
		}
	}
}

// A body that is slow to come does not hold the answer back, and what is left
// of the connection is not kept for long.
func TestMiddlewareOverAtOnce(t *testing.T) {
	t.Parallel()
	const keptFor = time.Second // more than slack: an answer that waits for it shows
	addr := strings.TrimPrefix(serve(t, wrap(t, deadline.Config{}, http.NotFoundHandler())), "http://")
	for _, c := range []struct {
		name, head string
		keep       bool
	}{
		{"no body", "GET / HTTP/1.1\r\n", true},
		{"a body that does not come", "POST / HTTP/1.1\r\nContent-Length: 1000\r\n", false},
		{"chunks that do not come", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", false},
		{"a body that waits to be asked for", "POST / HTTP/1.1\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			answers := bufio.NewReader(conn)
			for range 2 {
				begun := time.Now()
				_, _ = io.WriteString(conn, c.head+"Host: x\r\nX-Request-Timeout-Ms: 0\r\n\r\n")
				resp, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				if got := time.Since(begun); resp.StatusCode != http.StatusGatewayTimeout || got > slack || resp.Close == c.keep {
					t.Errorf("%q: got %d after %v, close %v, want 504 within %v, close %v", c.head, resp.StatusCode, got, resp.Close, slack, !c.keep)
				}
				if !c.keep {
					n, err := answers.Read(make([]byte, 1))
					if got := time.Since(begun); n != 0 || err != io.EOF || got > keptFor+slack {
						t.Errorf("%q: then read %d bytes, %v after %v, want an orderly end within %v", c.head, n, err, got, keptFor+slack)
					}
					return
				}
			}
		})
	}
}

// A caller that is sending gets the answer nevertheless.
func TestMiddlewareOverWhileSending(t *testing.T) {
	t.Parallel()
	url := serve(t, wrap(t, deadline.Config{}, http.NotFoundHandler()))
	for _, size := range []int{1, 10 << 10, 200 << 10} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(deadline.HeaderTimeout, "0")
		tr := &http.Transport{}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Errorf("%d bytes: %v, want 504", size, err)
			continue
		}
		_ = resp.Body.Close()
		tr.CloseIdleConnections()
		if resp.StatusCode != http.StatusGatewayTimeout {
			t.Errorf("%d bytes: got %d, want 504", size, resp.StatusCode)
		}
	}
}

func BenchmarkMiddleware(b *testing.B) {
	for _, c := range []struct {
		name string
		h    func() http.Handler
	}{
		{"bare", func() http.Handler { return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}) }},
		{"adopting", func() http.Handler {
			return wrap(b, deadline.Config{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		}},
		{"watching", func() http.Handler {
			return wrap(b, deadline.Config{OnOrphaned: func(deadline.Orphaned) {}}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			h := c.h()
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
			r.Header.Set(deadline.HeaderTimeout, "250")
			w := httptest.NewRecorder()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}
