package faults

import (
	"bufio"
	"io"
	"net/http"
	"testing"
)

// TestRepeatGetsTheFirstAnswer: head and body, whatever the listener does by then,
// as far as what it does leaves an answer at all.
func TestRepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	const keyed = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nIdempotency-Key: k\r\n\r\n"
	for _, tc := range []struct {
		first, then string
		status      int
		retry       string
		how         string
		err         bool
	}{
		{first: "status:status=201,retry-after=7,effect=yes", then: "ok", status: 201, retry: "7", how: "answered"},
		{first: "ok", then: "status:status=201,retry-after=9,effect=yes", status: 200, how: "answered"},
		{first: "ok", then: "status", status: 503, how: "answered"}, // its answer has no effect: it is the fault's own
		{first: "ok", then: "truncate:at=body:50", status: 200, how: "truncated", err: true},
		{first: "ok", then: "reset:at=body:50", status: 200, how: "reset", err: true},
	} {
		p, l := start(t, tc.first)
		nc := dial(t, l)
		br := bufio.NewReader(nc)
		send(t, nc, keyed)
		_, _ = io.Copy(io.Discard, readAnswer(t, br).Body)
		if err := p.Set(l.Name, []Spec{spec(t, tc.then)}, 0); err != nil {
			t.Fatal(err)
		}
		send(t, nc, keyed)
		r, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatalf("%s, then %s: %v", tc.first, tc.then, err)
		}
		_, err = io.ReadAll(r.Body)
		if r.StatusCode != tc.status || r.Header.Get("Retry-After") != tc.retry || (err != nil) != tc.err {
			t.Errorf("%s, then %s: got %s, Retry-After %q, %v; want %d, %q, an error: %v", tc.first, tc.then, r.Status, r.Header.Get("Retry-After"), err, tc.status, tc.retry, tc.err)
		}
		if e := entryOf(t, p, nc, 2); e.How != tc.how {
			t.Errorf("%s, then %s: the ledger says %s, want %s", tc.first, tc.then, e.How, tc.how)
		}
	}
}
