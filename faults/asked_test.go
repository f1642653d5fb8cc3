package faults

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAskedByRequest: what a request asks for is done, or refused with a word.
func TestAskedByRequest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, line, headers string
		want                int
		text                string
	}{
		{"date", "GET /?fault=status:retry-after=date+1s", "", 503, ""},
		{"date, escaped", "GET /?fault=status:retry-after=date%2B1s", "", 503, ""},
		{"empty", "GET /?fault=", "", 400, "no mode given"},
		{"badly escaped", "GET /?fault=slow:%zz", "", 400, "the query cannot be read"},
		{"semicolon", "GET /?fault=slow;x", "", 400, "the query cannot be read"},
		{"twice", "GET /?fault=ok&fault=slow", "", 400, "asked for twice"},
		{"both", "GET /?fault=ok", "X-Partner-Fault: ok\r\n", 400, "asked for twice"},
		{"empty header", "GET /", "X-Partner-Fault:\r\n", 400, "no mode given"},
		{"two headers", "GET /", "X-Partner-Fault: ok\r\nX-Partner-Fault: slow\r\n", 400, "asked for twice"},
		{"another parameter", "GET /?nofault=x;y", "", 200, ""},
		{"HEAD", "HEAD /?fault=nosuch", "", 400, ""},
	} {
		p, l := start(t, "ok")
		nc := dial(t, l)
		send(t, nc, tc.line+" HTTP/1.1\r\nHost: h\r\nX-Request-Attempt: 4294967297\r\n"+tc.headers+"\r\n")
		br := bufio.NewReader(nc)
		method, _, _ := strings.Cut(tc.line, " ")
		r, err := http.ReadResponse(br, &http.Request{Method: method})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		body, _ := io.ReadAll(r.Body)
		if r.StatusCode != tc.want || !strings.Contains(string(body), tc.text) {
			t.Errorf("%s: got %s %q, want %d %q", tc.name, r.Status, body, tc.want, tc.text)
		}
		if method == "HEAD" {
			if rest, _ := io.ReadAll(br); len(rest) > 0 {
				t.Errorf("%s: a body came: %q", tc.name, rest)
			}
		}
		if e := entryOf(t, p, nc, 1); e.Attempt != 0 {
			t.Errorf("%s: attempt 4294967297 is told as %d, want 0: it is no attempt", tc.name, e.Attempt)
		}
	}
}

// TestSpecIsReadAgain: what String writes can be read, commas and quotes too.
func TestSpecIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"Wed, 21 Oct 2015 07:28:00 GMT", `a "b", c`, `"`, "(", `back\slash,`, "date+1s", " x "} {
		s, err := ParseWith("status:when=first=1", map[string]string{"retry-after": value})
		if err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		again, err := Parse(s.String())
		if err != nil || again.String() != s.String() || again.args.word("retry-after") != value {
			t.Errorf("%q: %s is read as %s, %v", value, s, again, err)
		}
	}
	if _, err := Parse(`status:retry-after="x`); err == nil {
		t.Error("a quote without its end was read")
	}
}

// TestSlowReadHasBounds: a body that is wrong, too long or never ends is told so,
// as everywhere else.
func TestSlowReadHasBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, headers, body string
		want                int
	}{
		{"bad chunk", "Transfer-Encoding: chunked", "zz\r\nhello\r\n", 400},
		{"too long", "Content-Length: 1000", strings.Repeat("b", 1000), 413},
		{"silence", "Content-Length: 50", "half", 408},
		{"whole", "Content-Length: 50", strings.Repeat("b", 50), 200},
	} {
		p, l := startWith(t, Config{MaxBody: 100, ReadTimeout: 300 * time.Millisecond}, "slow-read:bytes=20,every=1ms")
		nc := dial(t, l)
		send(t, nc, "POST / HTTP/1.1\r\nHost: h\r\n"+tc.headers+"\r\n\r\n"+tc.body)
		r, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil || r.StatusCode != tc.want {
			t.Errorf("%s: got %+v, %v, want %d", tc.name, r, err, tc.want)
			continue
		}
		want := "bad_request"
		if tc.want == 200 {
			want = "answered"
		}
		if e := entryOf(t, p, nc, 1); e.How != want || e.EndedBy != "partner" {
			t.Errorf("%s: the ledger says %s by %s, want %s by partner", tc.name, e.How, e.EndedBy, want)
		}
	}
}

// TestPlainOnTLS: who speaks HTTP to a TLS port is told.
func TestPlainOnTLS(t *testing.T) {
	t.Parallel()
	setup, _, err := SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	_, l := startWith(t, Config{Listeners: []ListenerConfig{{TLS: setup}}})
	nc := dial(t, l)
	send(t, nc, get)
	if r, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || r.StatusCode != 400 {
		t.Errorf("got %+v, %v, want 400", r, err)
	}
}
