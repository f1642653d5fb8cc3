package admin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowReader is an answer whose reader takes nothing until gate is closed.
type slowReader struct {
	gate chan struct{}
	mu   sync.Mutex
	text strings.Builder
	head http.Header
}

func (s *slowReader) Header() http.Header { return s.head }
func (s *slowReader) WriteHeader(int)     {}
func (s *slowReader) Flush()              {}

func (s *slowReader) Write(b []byte) (int, error) {
	<-s.gate
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *slowReader) read() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestStreamTellsWhatWasMissed: it does not wait for an entry that may never come.
func TestStreamTellsWhatWasMissed(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "ok")
	h := handler{partner: p} // with room for none
	w := &slowReader{gate: make(chan struct{}), head: http.Header{}}
	ctx, cancel := context.WithCancel(t.Context())
	var stream sync.WaitGroup
	stream.Go(func() { h.stream(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/ledger/stream", nil)) })
	defer stream.Wait()
	defer cancel()
	// Each call ends two entries, its request's and its connection's. The stream
	// has one of them in its hands when the next is missed.
	for end := time.Now().Add(10 * time.Second); p.Ledger().Missed() < 2; {
		if time.Now().After(end) {
			t.Fatal("nothing is missed")
		}
		call(t, p.Listeners()[0])
	}
	// A connection's end may still be on its way; nothing comes after that.
	for end := time.Now().Add(10 * time.Second); p.Listeners()[0].Open > 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	began := time.Now()
	close(w.gate)
	for end := began.Add(10 * time.Second); !strings.Contains(w.read(), MissedSchema); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v nothing tells what was missed: %s", time.Since(began), w.read())
		}
	}
	if took := time.Since(began); took > time.Second+2*time.Second {
		t.Errorf("it took %v, want a second", took)
	}
}
