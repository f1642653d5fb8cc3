package faults

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// readAll reads what comes until the end and says how it ended.
func readAll(nc net.Conn) (string, error) {
	var b bytes.Buffer
	_, err := io.Copy(&b, nc)
	return b.String(), err
}

// TestP7DripDripsOnTime: the head comes at once, then every byte alone at its
// own point in time.
func TestP7DripDripsOnTime(t *testing.T) {
	t.Parallel()
	const n, every = 50, 20 * time.Millisecond
	p, l := start(t, "drip:bytes=50,every=20ms")
	nc := dial(t, l)
	began := time.Now()
	send(t, nc, get)
	br := bufio.NewReader(nc)
	r := readAnswer(t, br)
	within(t, "head", time.Since(began), 0, every)
	var first, last time.Time
	for i := range n {
		if _, err := r.Body.Read(make([]byte, 1)); err != nil && (err != io.EOF || i != n-1) {
			t.Fatalf("byte %d: %v", i+1, err)
		}
		if last = time.Now(); i == 0 {
			first = last
		}
		// The bytes cannot be early by more than the first one was late.
		if at := last.Sub(began); at < time.Duration(i)*every {
			t.Errorf("byte %d came at %v, want not before %v", i+1, at, time.Duration(i)*every)
		}
	}
	within(t, "from first to last byte", last.Sub(first), (n-1)*every-slack, (n-1)*every)
	e := entryOf(t, p, nc, 1)
	if e.How != "answered" || e.Bytes != n || e.WritesTotal != n+1 {
		t.Errorf("entry: got %+v, want %d writes", e, n+1)
	}
	for i, w := range e.Writes[1:] {
		if due := float64(i) * 20; w.Bytes != 1 || w.At < due || w.At > due+float64(slack.Milliseconds()) {
			t.Errorf("byte %d was written at %.3f ms, want at %.0f", i+1, w.At, due)
		}
	}
}

// TestC7SilenceInTheMiddleOfTheBody: 50 of 100 bytes, and then nothing.
func TestC7SilenceInTheMiddleOfTheBody(t *testing.T) {
	t.Parallel()
	p, l := start(t, "stall")
	nc := dial(t, l)
	send(t, nc, get)
	_ = nc.SetReadDeadline(time.Now().Add(time.Second))
	got, err := readAll(nc)
	var timeout net.Error
	if _, body, _ := strings.Cut(got, "\r\n\r\n"); len(body) != 50 || !strings.Contains(got, "Content-Length: 100\r\n") || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %q, %v, want 50 of 100 bytes and a timeout", got, err)
	}
	nc.Close()
	if e := entryOf(t, p, nc, 1); e.EndedBy != "client" || e.Bytes != 50 || e.Status != 200 || !e.Effect {
		t.Errorf("entry: got %+v", e)
	}
}

func TestDripHead(t *testing.T) {
	t.Parallel()
	p, l := start(t, "drip-head:every=1ms")
	nc := dial(t, l)
	send(t, nc, get)
	r := readAnswer(t, bufio.NewReader(nc))
	if body, err := io.ReadAll(r.Body); string(body) != "{\"effect\":1}\n" || err != nil {
		t.Errorf("body: got %q, %v", body, err)
	}
	if e := entryOf(t, p, nc, 1); e.WritesTotal < 100 || e.How != "answered" || len(e.Writes) != maxWrites {
		t.Errorf("entry: got %+v", e)
	}
}

func TestInformational(t *testing.T) {
	t.Parallel()
	_, l := start(t, "informational:every=1ms,count=3")
	nc := dial(t, l)
	send(t, nc, get)
	br := bufio.NewReader(nc)
	for i, want := range []int{102, 102, 102, 200} {
		if r := readAnswer(t, br); r.StatusCode != want {
			t.Errorf("answer %d: got %s, want %d", i+1, r.Status, want)
		} else if body, _ := io.ReadAll(r.Body); want == 200 && string(body) != "{\"effect\":null}\n" {
			t.Errorf("body: got %q", body)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ fault, status, retry string }{
		{"status", "503 Service Unavailable", ""},
		{"status:status=404", "404 Not Found", ""},
		{"status:status=204", "204 No Content", ""},
		{"status:retry-after=86400", "503 Service Unavailable", "86400"},
		{"status:retry-after=9223372036854775807", "503 Service Unavailable", "9223372036854775807"},
		{"status:retry-after=-5,status=429", "429 Too Many Requests", "-5"},
		{"status:retry-after=date+1s", "503 Service Unavailable", "date"},
	} {
		_, l := start(t, tc.fault)
		nc := dial(t, l)
		send(t, nc, get+get) // twice, so that the bodies' ends show
		br := bufio.NewReader(nc)
		for range 2 {
			r := readAnswer(t, br)
			io.Copy(io.Discard, r.Body)
			got := r.Header.Get("Retry-After")
			if tc.retry == "date" {
				at, err := http.ParseTime(got)
				if wait := time.Until(at); err != nil || wait > time.Second || wait < -time.Second {
					t.Errorf("%s: Retry-After: %q", tc.fault, got)
				}
			} else if got != tc.retry {
				t.Errorf("%s: Retry-After: got %q, want %q", tc.fault, got, tc.retry)
			}
			if r.Status != tc.status {
				t.Errorf("%s: got %s, want %s", tc.fault, r.Status, tc.status)
			}
		}
	}
	if _, err := Parse("status:retry-after=datex"); err == nil {
		t.Error("retry-after=datex was taken")
	}
}

func TestStatusLocation(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fault string
		want  []string
	}{
		{"status:status=302", nil},
		{"status:status=302,location=/", []string{"/"}},
		{"status:status=307,location=http://127.0.0.1:1/x?y=z,retry-after=1", []string{"http://127.0.0.1:1/x?y=z"}},
	} {
		_, l := start(t, tc.fault)
		nc := dial(t, l)
		send(t, nc, get)
		r := readAnswer(t, bufio.NewReader(nc))
		if got := r.Header.Values("Location"); !slices.Equal(got, tc.want) || r.StatusCode/100 != 3 {
			t.Errorf("%s: %s, Location: got %q, want %q", tc.fault, r.Status, got, tc.want)
		}
	}
	if _, err := Parse("status:location=/\r\nX: y"); err == nil {
		t.Error("a location of two lines was taken")
	}
}

// TestRateLimitIsTrue: whoever waits as long as it is told gets through.
func TestRateLimitIsTrue(t *testing.T) {
	t.Parallel()
	p, l := start(t, "rate-limit:rate=1,per=1s,burst=2")
	nc := dial(t, l)
	br := bufio.NewReader(nc)
	ask := func() *http.Response {
		send(t, nc, get)
		r := readAnswer(t, br)
		io.Copy(io.Discard, r.Body)
		return r
	}
	for _, want := range []int{200, 200, 429, 429} {
		if r := ask(); r.StatusCode != want {
			t.Fatalf("got %s, want %d", r.Status, want)
		}
	}
	r := ask()
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || seconds != 1 {
		t.Fatalf("Retry-After: %q, want 1", r.Header.Get("Retry-After"))
	}
	time.Sleep(time.Duration(seconds) * time.Second)
	if r := ask(); r.StatusCode != 200 {
		t.Errorf("after %d s: %s, want 200", seconds, r.Status)
	}
	if got := p.Stats()[0].Processed; got != 3 {
		t.Errorf("effects: %d, want 3: a request that is turned away has none", got)
	}
}

// TestSlowRead: a large body is taken piece by piece, or not at all.
func TestSlowRead(t *testing.T) {
	t.Parallel()
	request := "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"
	p, l := start(t, "slow-read:bytes=20000,every=20ms")
	nc := dial(t, l)
	began := time.Now()
	send(t, nc, request+strings.Repeat("b", 100000))
	if r := readAnswer(t, bufio.NewReader(nc)); r.StatusCode != 200 {
		t.Errorf("got %s", r.Status)
	}
	within(t, "answer", time.Since(began), 80*time.Millisecond, 120*time.Millisecond)
	if e := entryOf(t, p, nc, 1); e.Body != 100000 {
		t.Errorf("entry: got %+v", e)
	}
	p, l = start(t, "slow-read")
	nc = dial(t, l)
	_ = nc.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	n, err := nc.Write([]byte("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50000000\r\n\r\n" + strings.Repeat("b", 50000000)))
	var timeout net.Error
	if !errors.As(err, &timeout) {
		t.Errorf("sent %d bytes, %v, want that they are not taken", n, err)
	}
	nc.Close()
	if runtime.GOOS != "linux" {
		return // what is not read cannot be seen to end there
	}
	closedAt := p.clock.now()
	if e := entryOf(t, p, nc, 1); e.EndedBy != "client" || e.EndedAt-p.unixMS(closedAt) > float64((500*time.Millisecond+slack).Milliseconds()) {
		t.Errorf("entry: got %+v, want an end by the client within 500 ms", e)
	}
}

// TestIdempotencyKey: a repeat gets the first answer, and one effect is counted.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	p, l := start(t, "lost-response:when=first=1", "ok:body=200")
	keyed := "POST / HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n"
	nc := dial(t, l)
	send(t, nc, keyed)
	if got, err := readAll(nc); got != "" || err != nil {
		t.Fatalf("the lost response: got %q, %v", got, err)
	}
	for range 2 {
		nc := dial(t, l)
		send(t, nc, keyed)
		if body, _ := io.ReadAll(readAnswer(t, bufio.NewReader(nc)).Body); string(body) != "{\"effect\":1}\n" {
			t.Errorf("a repeat: got %q, want the answer that was lost", body)
		}
		if e := entryOf(t, p, nc, 1); e.Effect || !e.Duplicate || e.EffectID != 1 || e.Key != "k" {
			t.Errorf("entry of a repeat: got %+v", e)
		}
	}
	nc = dial(t, l)
	send(t, nc, get)
	if body, _ := io.ReadAll(readAnswer(t, bufio.NewReader(nc)).Body); len(body) != 200 || !strings.HasPrefix(string(body), `{"effect":2,"pad":"`) {
		t.Errorf("without a key: got %q", body)
	}
	got := p.listeners[0].effects.export("x", p.unixMS)
	if got.Effects != 2 || got.Duplicates != 2 || got.WithoutKey != 1 || len(got.Keys) != 1 || got.Keys[0].Duplicates != 2 {
		t.Errorf("effects: got %+v", got)
	}
}

// TestPerRequest: a client that can only set a URL or a header chooses a fault.
func TestPerRequest(t *testing.T) {
	t.Parallel()
	ask := func(cfg Config, target, header string) (int, string) {
		t.Helper()
		_, l := startWith(t, cfg, "ok")
		nc := dial(t, l)
		send(t, nc, "GET "+target+" HTTP/1.1\r\nHost: h\r\n"+header+"\r\n")
		r := readAnswer(t, bufio.NewReader(nc))
		body, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(body)
	}
	for _, tc := range []struct {
		target, header string
		status         int
		body           string
	}{
		{"/?fault=status:status=418", "", 418, "null"},
		{"/?a=b&fault=status:status%3D418", "", 418, "null"},
		{"/", "X-Partner-Fault: status:status=418\r\n", 418, "null"},
		{"/?default=1", "", 200, "1"},
		{"/?fault=sloow", "", 400, "one of ok, "},
		{"/?fault=refused", "", 400, "cannot be asked for by a request"},
		{"/?fault=silent", "", 400, "cannot be asked for by a request"},
		{"/?fault=reset:at=accept", "", 400, "cannot be asked for by a request"},
		{"/?fault=slow:when=first=1", "", 400, "when and for"},
		{"/?fault=slow:delay=100h", "", 400, "out of range"},
	} {
		if status, body := ask(Config{}, tc.target, tc.header); status != tc.status || !strings.Contains(body, tc.body) {
			t.Errorf("%s %s: got %d %q, want %d %q", tc.target, tc.header, status, body, tc.status, tc.body)
		}
	}
	if status, _ := ask(Config{NoPerRequest: true}, "/?fault=status", ""); status != 200 {
		t.Errorf("switched off: got %d, want 200", status)
	}
}
