package budgetcaller

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// model says, from the bytes alone, whether they begin with a whole answer to
// method, its status and how many body bytes it has. The end of the bytes is an
// orderly end of the connection.
func model(method string, raw []byte) (whole bool, status int, n int64) {
	br := bufio.NewReaderSize(bytes.NewReader(raw), bufferSize)
	for {
		resp, err := http.ReadResponse(br, &http.Request{Method: method})
		if err != nil || resp.StatusCode < 100 {
			return false, 0, 0 // below 100 is no status (RFC 9110, section 15)
		}
		if resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		n, err := io.Copy(io.Discard, resp.Body)
		return err == nil, resp.StatusCode, n
	}
}

// FuzzAnswer sends bytes as an answer and ends the connection. Whatever they
// are, the attempt ends with a class within its limits, and it is ok or status
// exactly if the bytes hold a whole answer.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"", "H", "hello", answer("hi"), half(), chunkedHead + "2\r\nhi\r\n0\r\n\r\n", chunkedHead + "5\r\nhi",
		"HTTP/1.1 103 X\r\n\r\n" + answer("hi"), "HTTP/1.0 200 OK\r\n\r\nhi", "HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 503 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nX: y\r", "HTTP/1.1 101 X\r\n\r\nabc",
		"HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:0/\r\n\r\n", chunkedHead + "ffffffffffffffff\r\n", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
		"HTTP/1.1 099 X\r\n\r\n" + answer("hi"),
	} {
		for kind := range uint8(6) {
			f.Add(kind, []byte(seed))
		}
	}
	ends := []then{thenFin, thenReset}
	methods := []string{"GET", "HEAD", "POST"}
	// One server and one Caller for all inputs: each connection asks for its own.
	type script struct {
		raw []byte
		end then
	}
	inputs := make(chan script, 1)
	w := serve(f, func(p *peer) {
		if p.request() == nil {
			return
		}
		in := <-inputs
		_, _ = p.Write(in.raw)
		in.end(p)
	})
	c := newCaller(f, Config{Limits: Limits{Read: time.Second}, MaxHeadBytes: 1 << 16, Redirects: 0})
	f.Fuzz(func(t *testing.T, kind uint8, raw []byte) {
		if len(raw) > 1<<15 {
			raw = raw[:1<<15] // within the head's bound, so that the model knows no bound either
		}
		method := methods[int(kind)%len(methods)]
		end := int(kind) / len(methods) % len(ends)
		inputs <- script{raw, ends[end]}
		var body io.Reader
		if method == "POST" {
			body = strings.NewReader("hello")
		}
		req := newRequest(t, method, w.url("/"), body)
		req.Close = true // no input inherits another's connection
		var sink bytes.Buffer
		res, err := run(t, c, 3*time.Second, req, &sink)
		if err != nil || len(res.Attempts) != 1 {
			t.Fatalf("%d attempts, error %v", len(res.Attempts), err)
		}
		rec := res.Last()
		if rec.Elapsed > 2*time.Second+late(rec.Start) || rec.Limit != LimitNone {
			t.Errorf("%v, limit %v, after %v: the partner never was silent", rec.Class, rec.Limit, rec.Elapsed)
		}
		if rec.Bytes > int64(len(raw)) || int64(sink.Len()) != rec.Bytes {
			t.Errorf("%d bytes counted, %d handed on, of %d sent", rec.Bytes, sink.Len(), len(raw))
		}
		got := rec.Class == ClassOK || rec.Class == ClassStatus
		whole, status, n := model(method, raw)
		switch {
		case end == 1 && !got:
			// A reset may overtake what was sent before it.
		case got != whole && end == 0, got && (!whole || rec.Status != status || rec.Bytes != n || (rec.Class == ClassStatus) != (status >= 400)):
			t.Errorf("%s, end %d: %v, status %d, %d bytes (%v)\nthe bytes %q say whole %v, status %d, %d bytes",
				method, end, rec.Class, rec.Status, rec.Bytes, rec.Err, raw, whole, status, n)
		}
	})
}
