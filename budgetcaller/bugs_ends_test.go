package budgetcaller

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An attempt was made also if its redirect could not be followed any more: hooks
// and breaker are told of it, and the error accounts for it.
func TestARedirectThatIsNotFollowedAnyMore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		meanwhile func(*Caller)
		class     Class
		is        error
	}{
		{"below the floor by then", func(*Caller) { time.Sleep(1600 * ms) }, ClassBelowFloor, ErrBelowFloor},
		{"closed by then", (*Caller).Close, ClassCanceled, ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var told []AttemptEvent
			c := newCaller(t, Config{
				Redirects: 3,
				Default:   Dependency{Limits: Limits{Floor: 2500 * ms}, Retry: fixed(2, ms)},
				Hooks:     Hooks{Attempt: func(e AttemptEvent) { told = append(told, e) }},
			})
			s := newScript(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				tt.meanwhile(c)
				w.Header().Set("Location", "/next")
				w.WriteHeader(http.StatusFound)
			})
			_, _, err := ask(t, c, 4*time.Second, request(t, "GET", s.url, ""))
			var e *Error
			if !errors.As(err, &e) || e.Class != tt.class || !errors.Is(err, tt.is) || e.Effect != EffectAnswered ||
				len(e.Attempts) != 1 || e.Attempts[0].Status != http.StatusFound {
				t.Errorf("got %v (%+v), want %v with the attempt that was redirected", err, e, tt.class)
			}
			if n := len(s.seen()); n != 1 || len(told) != 1 || told[0].Number != 1 || told[0].Record.Status != http.StatusFound {
				t.Errorf("the partner saw %d requests, hooks were told of %+v; want 1 and the same", n, told)
			}
		})
	}
}

// closing is a stub whose bodies count how many of them were closed.
type closing struct {
	body   string
	closed atomic.Int64
}

type closingBody struct {
	io.Reader
	closed *atomic.Int64
}

func (b closingBody) Close() error { b.closed.Add(1); return nil }

func (s *closing) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, ContentLength: -1, Header: http.Header{}, Request: req,
		Body: closingBody{strings.NewReader(s.body), &s.closed},
	}, nil
}

// A stub's body is closed, as any transport may ask for.
func TestAStubsBodyIsClosed(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{"whole": 100, "too long": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &closing{body: strings.Repeat("x", 50)}
			c := newCaller(t, Config{Stub: s, MaxBodyBytes: most})
			for n := range int64(3) {
				_, _, err := ask(t, c, 5*time.Second, request(t, "GET", "http://price.test/", ""))
				if (err == nil) != (most > 50) {
					t.Errorf("got %v", err)
				}
				if got := s.closed.Load(); got != n+1 {
					t.Errorf("call %d: %d bodies were closed", n+1, got)
				}
			}
		})
	}
}

// What an answer announces is set aside only if it may come.
func TestNothingIsSetAsideForABodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write(make([]byte, 1000))
	})
	c := newCaller(t, Config{MaxBodyBytes: 100})
	head, _, err := ask(t, c, 5*time.Second, request(t, "HEAD", s.url, ""))
	if err != nil || cap(head.Body) > 0 {
		t.Errorf("HEAD: %v, %d bytes set aside", err, cap(head.Body))
	}
	var a Answer
	ctx, cancel, err := Begin(t.Context(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	var res Result
	if err := c.follow(ctx, &try{req: request(t, "GET", s.url, ""), limits: c.other.Limits, maxBody: 100, keep: &a}, nil, &res); err != nil {
		t.Fatal(err)
	}
	if res.Last().Class != ClassMalformed || cap(a.Body) > 4096 {
		t.Errorf("%v, %d bytes set aside", res.Last().Class, cap(a.Body))
	}
}

// merged is a context that ends for a reason that its Deadline does not tell of,
// as those that follow several others do.
type merged struct {
	context.Context
	other context.Context
}

func (m merged) Done() <-chan struct{} { return m.other.Done() }
func (m merged) Err() error            { return m.other.Err() }

// A context that is over ends the call, whatever it said of its deadline before.
func TestAContextThatEndsEarlyEndsTheCall(t *testing.T) {
	t.Parallel()
	url := newScript(t, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }).url
	c := newCaller(t, Config{})
	outer, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	began := time.Now()
	inner, cancelInner := context.WithTimeout(t.Context(), 300*ms)
	defer cancelInner()
	_, err := c.Do(merged{outer, inner}, request(t, "GET", url, ""))
	if took := time.Since(began); !errors.Is(err, ErrBudgetExhausted) || took < 300*ms || took > 10*time.Second {
		t.Errorf("got %v after %v, want the budget exhausted after 300ms", err, took)
	}
}

// A Caller that was closed leaves nothing behind, however long its budgets were.
func TestClosedCallersAreLetGo(t *testing.T) {
	// Not parallel: it looks at the heap of the whole process.
	const callers = 2000
	grown := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := grown()
	for range callers {
		c, err := New(Config{Stub: stub{}})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, _, err := ask(t, c, 100*time.Hour, request(t, "GET", "http://price.test/", "")); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
	}
	if after := grown(); after > before+callers*200 {
		t.Errorf("%d bytes are kept for each Caller", (after-before)/callers)
	}
}

// slowToClose is a connection whose closing takes its time.
type slowToClose struct {
	net.Conn
	begun chan struct{}
	gone  atomic.Bool
}

func (s *slowToClose) Close() error {
	close(s.begun)
	time.Sleep(50 * ms)
	s.gone.Store(true)
	return s.Conn.Close()
}

// Whoever ends an attempt finds its connection gone, also where another one, the
// watchdog say, was about to close it.
func TestAnAbortedConnectionIsGone(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	slow := &slowToClose{Conn: ours, begun: make(chan struct{})}
	p := &pool{hosts: map[route]*hostPool{}}
	h := p.host(route{})
	h.open = 1
	c := newConn(h, slow)
	first := make(chan struct{})
	go func() {
		defer close(first)
		c.abort()
	}()
	<-slow.begun
	if c.release(true) || !slow.gone.Load() {
		t.Error("it was given back before it was gone")
	}
	<-first
}
