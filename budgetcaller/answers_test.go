package budgetcaller

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAnswers: answers that are whole, however oddly they are made.
func TestAnswers(t *testing.T) {
	t.Parallel()
	ok := func(status int, bytes, expected int64) want {
		return want{class: ClassOK, phases: in(PhaseBody), effects: answered(), status: status, bytes: bytes, expected: expected}
	}
	bad := func(status int, effect []Effect) want {
		return want{class: ClassStatus, phases: in(PhaseBody), effects: effect, status: status, bytes: 0, expected: 0}
	}
	for _, tt := range []struct {
		name, method, answer string
		fin                  bool // an orderly end right behind it
		want                 want
		reusable             bool
	}{
		{"declared length", "", answer("hello"), false, ok(200, 5, 5), true},
		{"declared length, end behind it", "", answer("hello"), true, ok(200, 5, 5), false},
		{"length 0", "", answer(""), false, ok(200, 0, 0), true},
		{"no reason phrase", "", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, ok(200, 0, 0), true},
		{"bare line feeds", "", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", false, ok(200, 2, 2), true},
		{"close-delimited", "", "HTTP/1.1 200 OK\r\n\r\nhello", true, ok(200, 5, -1), false},
		{"close-delimited and empty", "", "HTTP/1.1 200 OK\r\n\r\n", true, ok(200, 0, -1), false},
		{"HTTP/1.0", "", "HTTP/1.0 200 OK\r\n\r\nhello", true, ok(200, 5, -1), false},
		{"HTTP/1.0 keep-alive", "", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", false, ok(200, 2, 2), true},
		{"Connection: close", "", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", false, ok(200, 2, 2), false},
		{"chunked", "", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", false, ok(200, 5, -1), true},
		{"chunked with trailer and extension", "", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n", false, ok(200, 3, -1), true},
		{"chunked beats length", "", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, ok(200, 0, -1), true},
		{"bytes behind the answer", "", answer("hello") + "HTTP/1.1 200 OK\r\n\r\n", false, ok(200, 5, 5), false},
		{"100 first", "", "HTTP/1.1 100 Continue\r\n\r\n" + answer("hi"), false, ok(200, 2, 2), true},
		{"103 first", "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer("hi"), false, ok(200, 2, 2), true},
		{"101", "", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false, ok(101, 0, 0), false},
		{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", false, ok(200, 0, 0), true},
		{"HEAD without length", "HEAD", "HTTP/1.1 200 OK\r\n\r\n", false, ok(200, 0, 0), true},
		{"HEAD with a body all the same", "HEAD", answer("hello"), false, ok(200, 0, 0), false},
		{"204", "", "HTTP/1.1 204 No Content\r\n\r\n", false, ok(204, 0, 0), true},
		{"204 with a length", "", "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", false, ok(204, 0, 0), true},
		{"304 with a length", "", "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n", false, ok(304, 0, 0), true},
		{"399", "", "HTTP/1.1 399 X\r\nContent-Length: 0\r\n\r\n", false, ok(399, 0, 0), true},
		{"400", "", "HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n", false, bad(400, answered()), true},
		{"404", "", "HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n", false, bad(404, answered()), true},
		{"429", "", "HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n", false, bad(429, answered()), true},
		{"500", "", "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", false, bad(500, answered()), true},
		{"502", "", "HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n", false, bad(502, unknown()), true},
		{"503", "", "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", false, bad(503, answered()), true},
		{"504", "", "HTTP/1.1 504 X\r\nContent-Length: 0\r\n\r\n", false, bad(504, unknown()), true},
		{"999", "", "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", false, bad(999, answered()), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) {
				for p.request() != nil {
					p.send(tt.answer)
					if tt.fin {
						p.fin()
						return
					}
				}
			})
			c := newCaller(t, Config{Limits: Limits{Read: 2 * time.Second}})
			for nth := range 2 {
				rec := once(t, c, 5*time.Second, newRequest(t, tt.method, w.url("/"), nil))
				tt.want.check(t, rec)
				if tt.fin { // a call before the end has come could not know of it
					time.Sleep(100 * time.Millisecond)
				}
				if reused := nth > 0 && tt.reusable; rec.Reused != reused {
					t.Errorf("call %d: reused %v, want %v", nth+1, rec.Reused, reused)
				}
			}
			if n := w.requests.Load(); n != 2 {
				t.Errorf("the partner saw %d requests for 2 calls", n)
			}
		})
	}
}

func TestAnswerHeaders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, head, retryAfter, location string }{
		{"503 with Retry-After", "503 X\r\nRetry-After: 120", "120", ""},
		{"429 with a date", "429 X\r\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", ""},
		{"302", "302 X\r\nLocation: /next", "", "/next"},
		{"201 has no redirect", "201 X\r\nLocation: /made", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(p *peer) { p.answers("HTTP/1.1 " + tt.head + "\r\nContent-Length: 0\r\n\r\n") })
			rec := once(t, newCaller(t, Config{}), 5*time.Second, get(t, w.url("/")))
			if rec.RetryAfter != tt.retryAfter || rec.Location != tt.location {
				t.Errorf("Retry-After %q, Location %q; want %q and %q", rec.RetryAfter, rec.Location, tt.retryAfter, tt.location)
			}
		})
	}
}

// What goes out is the request as it was given, and nothing that was not asked
// for.
func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	w := serve(t, func(p *peer) {
		for req := p.request(); req != nil; req = p.request() {
			got <- req
			p.send(answer(""))
		}
	})
	req := newRequest(t, "PUT", w.url("/a%20b?q=1#f"), strings.NewReader("hello"))
	req.Header.Set("X-Own", "1")
	req.Host = "other.test"
	once(t, newCaller(t, Config{}), 5*time.Second, req)
	seen := <-got
	if seen.Method != "PUT" || seen.RequestURI != "/a%20b?q=1" || seen.Host != "other.test" || seen.ContentLength != 5 || seen.Proto != "HTTP/1.1" {
		t.Errorf("got %s %s %s for host %s, length %d", seen.Method, seen.RequestURI, seen.Proto, seen.Host, seen.ContentLength)
	}
	for name := range seen.Header {
		if name != "X-Own" && name != "User-Agent" && name != "Content-Length" {
			t.Errorf("header %s: %q was not asked for", name, seen.Header[name])
		}
	}
}

// A client can close what is idle, as with net/http's own transport, and go on.
func TestTheClientClosesIdleConnections(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(int, http.ResponseWriter, *http.Request) {})
	c := newCaller(t, Config{})
	client := &http.Client{Transport: c.RoundTripper(), Timeout: 10 * time.Second}
	for range 2 {
		resp, err := client.Get(s.url)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if open, idle, _ := slots(c); open != 1 || idle != 1 {
			t.Errorf("%d connections, %d idle; want 1 and 1", open, idle)
		}
		client.CloseIdleConnections()
		if open, idle, _ := slots(c); open != 0 || idle != 0 {
			t.Errorf("closed: %d connections, %d idle; want none", open, idle)
		}
	}
}
