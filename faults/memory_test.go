package faults

import (
	"bufio"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestLedgerPinsNoRequest: an entry keeps the path and the method, and not the
// request line of which they were a part.
func TestLedgerPinsNoRequest(t *testing.T) { // not parallel: it looks at the heap
	p, l := start(t, "ok")
	nc := dial(t, l)
	br := bufio.NewReader(nc)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const requests = 300
	before := heap()
	query := strings.Repeat("q", 50_000)
	for range requests {
		send(t, nc, "GET /short?"+query+" HTTP/1.1\r\nHost: h\r\n\r\n")
		io.Copy(io.Discard, readAnswer(t, br).Body)
	}
	if grown := heap() - before; grown > requests*5_000 {
		t.Errorf("%d requests with a query of %d bytes: the heap grew by %d kB, want at most 5 kB each", requests, len(query), grown/1000)
	}
	if e := entryOf(t, p, nc, 1); e.Path != "/short" || e.Method != "GET" {
		t.Errorf("entry: got %s %s, want GET /short", e.Method, e.Path)
	}
}

// TestHeadLines: the lines of a head are bounded, in however many pieces they
// come, and those of a body or of the requests behind it do not count.
func TestHeadLines(t *testing.T) {
	t.Parallel()
	lines := func(n int) string { return strings.Repeat("x:\r\n", n) }
	start1 := "GET / HTTP/1.1\r\nHost: h\r\n"
	for _, tc := range []struct {
		name   string
		pieces []string
		want   []int
	}{
		{"whole", []string{start1 + lines(300) + "\r\n"}, []int{431}},
		{"in pieces, never ended", []string{start1, lines(500), lines(500)}, []int{431}},
		{"long, in pieces", []string{start1, lines(2000) + "\r\n"}, []int{431}},
		{"just fits", []string{start1, lines(maxLines-2) + "\r\n"}, []int{200}},
		{"body of many lines", []string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n" + strings.Repeat("\r\n", 500)}, []int{200}},
		{"many requests", []string{strings.Repeat(get, 120)}, []int{200, 200, 200}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, l := start(t, "ok")
			nc := dial(t, l)
			for _, piece := range tc.pieces {
				_, _ = nc.Write([]byte(piece)) // a refused head is not read to its end
			}
			br := bufio.NewReader(nc)
			for i, want := range tc.want {
				r, err := http.ReadResponse(br, nil)
				if err != nil || r.StatusCode != want {
					t.Fatalf("answer %d: got %+v, %v, want status %d", i+1, r, err, want)
				}
				io.Copy(io.Discard, r.Body)
			}
		})
	}
}
