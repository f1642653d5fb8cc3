package budgetcaller

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRedirected: which request a redirect asks for.
func TestRedirected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, method, from string
		status             int
		location           string
		method2, url       string // empty: not followed
		body, secret       bool
	}{
		{"301 GET", "GET", "http://a.test/x", 301, "/y", "GET", "http://a.test/y", false, true},
		{"301 POST", "POST", "http://a.test/x", 301, "/y", "GET", "http://a.test/y", false, true},
		{"302 HEAD", "HEAD", "http://a.test/x", 302, "/y", "HEAD", "http://a.test/y", false, true},
		{"303 POST", "POST", "http://a.test/x", 303, "/y", "GET", "http://a.test/y", false, true},
		{"303 PUT", "PUT", "http://a.test/x", 303, "y", "GET", "http://a.test/y", false, true},
		{"307 POST", "POST", "http://a.test/x", 307, "/y", "POST", "http://a.test/y", true, true},
		{"308 PUT", "PUT", "http://a.test/x", 308, "/y", "PUT", "http://a.test/y", true, true},
		{"other path with query", "GET", "http://a.test/x/z?a=1", 302, "../y?b=2", "GET", "http://a.test/y?b=2", false, true},
		{"without scheme", "GET", "https://a.test/x", 302, "//b.test/y", "GET", "https://b.test/y", false, false},
		{"other host", "GET", "http://a.test/x", 302, "http://b.test/y", "GET", "http://b.test/y", false, false},
		{"other host keeps the body", "POST", "http://a.test/x", 307, "http://b.test/y", "POST", "http://b.test/y", true, false},
		{"other port", "GET", "http://a.test:1/x", 302, "http://a.test:2/y", "GET", "http://a.test:2/y", false, false},
		{"sub domain", "GET", "http://a.test/x", 302, "http://b.a.test/y", "GET", "http://b.a.test/y", false, false},
		{"from https to http", "GET", "https://a.test/x", 302, "http://a.test/y", "GET", "http://a.test/y", false, false},
		{"other case of the host", "GET", "http://a.test/x", 302, "http://A.Test/y", "GET", "http://A.Test/y", false, true},
		{"no location", "GET", "http://a.test/x", 302, "", "", "", false, false},
		{"other scheme", "GET", "http://a.test/x", 302, "ftp://a.test/y", "", "", false, false},
		{"script", "GET", "http://a.test/x", 302, "javascript:alert(1)", "", "", false, false},
		{"no host", "GET", "http://a.test/x", 302, "http:///y", "", "", false, false},
		{"not a URL", "GET", "http://a.test/x", 302, "http://[", "", "", false, false},
		{"line break", "GET", "http://a.test/x", 302, "/a\r\nX: y", "", "", false, false},
		{"300", "GET", "http://a.test/x", 300, "/y", "", "", false, false},
		{"304", "GET", "http://a.test/x", 304, "/y", "", "", false, false},
		{"305", "GET", "http://a.test/x", 305, "http://b.test/", "", "", false, false},
		{"200", "GET", "http://a.test/x", 200, "/y", "", "", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var body io.Reader
			if tt.method == "POST" || tt.method == "PUT" {
				body = strings.NewReader("hello")
			}
			req := newRequest(t, tt.method, tt.from, body)
			req.Header.Set("Authorization", "secret")
			req.Header.Set("Cookie", "secret")
			req.Header.Set("Content-Type", "text/plain")
			req.Header.Set("X-Own", "1")
			next := redirected(t.Context(), req, &Record{Class: ClassOK, Status: tt.status, Location: tt.location})
			if next == nil {
				if tt.url != "" {
					t.Fatalf("not followed, want %s %s", tt.method2, tt.url)
				}
				return
			}
			if tt.url == "" || next.Method != tt.method2 || next.URL.String() != tt.url {
				t.Fatalf("got %s %s, want %s %q", next.Method, next.URL, tt.method2, tt.url)
			}
			if secret := next.Header.Get("Authorization") + next.Header.Get("Cookie"); (secret != "") != tt.secret {
				t.Errorf("secrets passed on: %q, want %v", secret, tt.secret)
			}
			if next.Header.Get("X-Own") != "1" || next.Host != "" || (next.Header.Get("Content-Type") != "") != tt.body {
				t.Errorf("headers %v, host %q", next.Header, next.Host)
			}
			if (next.Body != nil) != tt.body || (next.ContentLength == 5) != tt.body {
				t.Errorf("body %v, length %d, want one: %v", next.Body, next.ContentLength, tt.body)
			}
			if req.Header.Get("Authorization") == "" || req.Method != tt.method {
				t.Error("the user's own request was changed")
			}
		})
	}
	t.Run("body that cannot be had again", func(t *testing.T) {
		t.Parallel()
		req := newRequest(t, "POST", "http://a.test/x", io.MultiReader(strings.NewReader("hello")))
		if next := redirected(t.Context(), req, &Record{Class: ClassOK, Status: 307, Location: "/y"}); next != nil {
			t.Errorf("followed to %s without its body", next.URL)
		}
	})
}

// hops answers each path with a redirect to the next.
func hops(t testing.TB, status string) *wire {
	return serve(t, func(p *peer) {
		for req := p.request(); req != nil; req = p.request() {
			if n := len(req.URL.Path); n < 6 {
				p.send("HTTP/1.1 " + status + " X\r\nLocation: " + req.URL.Path + "x\r\nContent-Length: 3\r\n\r\nhop")
				continue
			}
			p.send(answer(req.Method + " " + req.URL.Path))
		}
	})
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		follow       int
		status       string
		attempts     int
		lastStatus   int
		body         string
		method, path string
	}{
		{"none by default", 0, "302", 1, 302, "hop", "GET", "/"},
		{"up to the bound", 2, "302", 3, 302, "hop", "GET", "/"},
		{"to the end", 5, "302", 6, 200, "GET /xxxxx", "GET", "/"},
		{"more allowed than needed", 50, "302", 6, 200, "GET /xxxxx", "GET", "/"},
		{"303 after POST", 5, "303", 6, 200, "GET /xxxxx", "POST", "/"},
		{"307 after POST", 5, "307", 6, 200, "POST /xxxxx", "POST", "/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := hops(t, tt.status)
			c := newCaller(t, Config{Redirects: tt.follow})
			var body io.Reader
			if tt.method == "POST" {
				body = strings.NewReader("hello")
			}
			var sink bytes.Buffer
			res, err := run(t, c, 5*time.Second, newRequest(t, tt.method, w.url(tt.path), body), &sink)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Attempts) != tt.attempts || res.Last().Status != tt.lastStatus || sink.String() != tt.body {
				t.Errorf("%d attempts, status %d, body %q; want %d, %d, %q", len(res.Attempts), res.Last().Status, sink.String(), tt.attempts, tt.lastStatus, tt.body)
			}
			if n := w.requests.Load(); n != int64(len(res.Attempts)) {
				t.Errorf("the partner saw %d requests for %d attempts", n, len(res.Attempts))
			}
			for i, rec := range res.Attempts {
				if rec.Class != ClassOK || (tt.method == "GET" && rec.Nth != i+1) {
					t.Errorf("attempt %d: %v (%v), request %d on its connection", i+1, rec.Class, rec.Err, rec.Nth)
				}
			}
		})
	}
}

// A loop ends at the bound, and a slow one with the budget, which all hops share.
func TestRedirectLoop(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) {
		for req := p.request(); req != nil; req = p.request() {
			if req.URL.Path == "/slow" {
				time.Sleep(100 * ms)
			}
			p.send("HTTP/1.1 302 X\r\nLocation: " + req.URL.Path + "\r\nContent-Length: 0\r\n\r\n")
		}
	})
	c := newCaller(t, Config{Redirects: 20})
	res, err := run(t, c, 5*time.Second, get(t, w.url("/fast")), nil)
	if err != nil || len(res.Attempts) != 21 || res.Last().Status != 302 {
		t.Errorf("%d attempts, status %d, error %v; want 21, 302", len(res.Attempts), res.Last().Status, err)
	}
	began := time.Now()
	res, err = run(t, c, 450*ms, get(t, w.url("/slow")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if last := res.Last(); last.Class != ClassBudgetExhausted || last.Limit != LimitBudget || last.Effect != EffectUnknown || res.Effect() != EffectUnknown {
		t.Errorf("%v, limit %v, effect %v of %v (%v)", last.Class, last.Limit, last.Effect, res.Effect(), last.Err)
	}
	if res.Elapsed < 440*ms || res.Elapsed > 450*ms+late(began) || len(res.Attempts) > 5 {
		t.Errorf("%d attempts in %v, want at most 5 in 450ms", len(res.Attempts), res.Elapsed)
	}
}

// Secrets do not leave with the redirect to another host.
func TestRedirectKeepsSecrets(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 4)
	other := serve(t, func(p *peer) {
		for req := p.request(); req != nil; req = p.request() {
			seen <- req.Header
			p.send(answer("hi"))
		}
	})
	w := serve(t, func(p *peer) {
		p.answers("HTTP/1.1 307 X\r\nLocation: " + other.url("/") + "\r\nContent-Length: 0\r\n\r\n")
	})
	req := newRequest(t, "POST", w.url("/"), strings.NewReader("hello"))
	req.Header.Set("Authorization", "Bearer secret")
	req.Header.Set("Cookie", "a=secret")
	req.Header.Set("X-Own", "1")
	res, err := run(t, newCaller(t, Config{Redirects: 3}), 5*time.Second, req, nil)
	if err != nil || len(res.Attempts) != 2 || res.Last().Class != ClassOK {
		t.Fatalf("%+v, %v", res, err)
	}
	got := <-seen
	if got.Get("Authorization") != "" || got.Get("Cookie") != "" || got.Get("X-Own") != "1" || got.Get("Content-Length") != "5" {
		t.Errorf("the other host got %v", got)
	}
	if u := res.Last().URL; u.Host != other.host {
		t.Errorf("record of %s, want %s", res.Last().URL, other.host)
	}
}
