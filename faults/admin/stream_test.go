package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/faults"
)

// slowReader is an answer whose reader takes nothing until gate is closed.
type slowReader struct {
	gate chan struct{}
	busy atomic.Bool // something is being written
	mu   sync.Mutex
	text strings.Builder
	head http.Header
}

func (s *slowReader) Header() http.Header { return s.head }
func (s *slowReader) WriteHeader(int)     {}
func (s *slowReader) Flush()              {}

func (s *slowReader) Write(b []byte) (int, error) {
	s.busy.Store(true)
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

// TestStreamEndsWithWhatHasEnded: what ended before the port is shut down, as the
// hung calls of a partner that is stopped, is in the stream.
func TestStreamEndsWithWhatHasEnded(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "ok")
	h := handler{partner: p, queue: streamQueue}
	w := &slowReader{gate: make(chan struct{}), head: http.Header{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stream sync.WaitGroup
	stream.Go(func() { h.stream(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/ledger/stream", nil)) })
	// Something that the stream has in its hands, and then more.
	for end := time.Now().Add(10 * time.Second); !w.busy.Load(); call(t, p.Listeners()[0]) {
		if time.Now().After(end) {
			t.Fatal("the stream takes nothing")
		}
	}
	feed := p.Ledger().Follow(100)
	defer feed.Close()
	var ended []faults.Entry
	for len(ended) < 20 {
		call(t, p.Listeners()[0])
		select {
		case e := <-feed.Entries():
			ended = append(ended, e)
		case <-time.After(10 * time.Second):
			t.Fatal("an answered call does not end")
		}
	}
	cancel()
	close(w.gate)
	stream.Wait()
	for _, e := range ended {
		if got := w.read(); !strings.Contains(got, fmt.Sprintf(`"seq":%d,`, e.Seq)) {
			t.Fatalf("entry %d, which had ended, is not in the stream:\n%s", e.Seq, got)
		}
	}
}
