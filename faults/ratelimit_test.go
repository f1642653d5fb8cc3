package faults

import (
	"bufio"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRateLimitUnderConcurrency: many clients at once get every token that there
// is, and are told the time to the next one and no more.
func TestRateLimitUnderConcurrency(t *testing.T) {
	t.Parallel()
	const (
		perSecond, burst = 10, 20
		lasts            = 3 * time.Second
	)
	_, l := start(t, "rate-limit:rate=10,burst=20")
	var through, wrong atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range 64 {
		nc := dial(t, l)
		wg.Go(func() {
			br := bufio.NewReader(nc)
			for time.Since(began) < lasts {
				_, _ = nc.Write([]byte(get))
				r, err := http.ReadResponse(br, nil)
				if err != nil {
					t.Errorf("answer: %v", err)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if r.StatusCode == http.StatusOK {
					through.Add(1)
				} else if n, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || n != 1 {
					wrong.Add(1)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began).Seconds()
	most := burst + perSecond*took + 1
	if n := float64(through.Load()); n > most || n < 0.9*(burst+perSecond*lasts.Seconds()) {
		t.Errorf("let through in %.2f s: got %.0f, want all of at most %.0f tokens", took, n, most)
	}
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d answers had another Retry-After than 1, and the next token was always at most 100 ms away", n)
	}
}

// TestPerRequestRefusesWhatCounts: a bucket of its own for each request would
// never be empty.
func TestPerRequestRefusesWhatCounts(t *testing.T) {
	t.Parallel()
	_, l := start(t, "ok")
	nc := dial(t, l)
	send(t, nc, "GET /?fault=rate-limit:rate=1,per=1h HTTP/1.1\r\nHost: h\r\n\r\n")
	r := readAnswer(t, bufio.NewReader(nc))
	body, _ := io.ReadAll(r.Body)
	if r.StatusCode != 400 || !strings.Contains(string(body), "rate-limit:rate=1,per=1h cannot be asked for by a request: it counts") {
		t.Errorf("got %s %q, want 400 and the reason", r.Status, body)
	}
}
