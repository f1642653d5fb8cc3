package budgetcaller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chaoslab/budgetcaller/backoff"
)

// script is a partner on loopback that answers request n (from 1) as told, and
// keeps when each came.
type script struct {
	url string

	mu    sync.Mutex
	began time.Time
	came  []time.Duration
	heads []http.Header
}

func newScript(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *script {
	t.Helper()
	s := &script{began: time.Now()}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.mu.Lock()
		s.came = append(s.came, time.Since(s.began))
		s.heads = append(s.heads, r.Header.Clone())
		n := len(s.came)
		s.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

func (s *script) seen() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.came)
}

// unavailable answers 503 after a while.
func unavailable(after time.Duration) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(after):
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func fixed(attempts int, wait time.Duration) Retry {
	return Retry{Attempts: attempts, Backoff: backoff.Config{Base: wait, Cap: wait, Jitter: backoff.None}}
}

// ask makes a call and returns its error, how long it took, and the answer.
func ask(t *testing.T, c *Caller, budget time.Duration, req *http.Request) (*Answer, time.Duration, error) {
	t.Helper()
	began := time.Now()
	ctx, cancel, err := Begin(t.Context(), budget)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	answer, err := c.Do(ctx, req)
	return answer, time.Since(began), err
}

func request(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, url, r)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestB5NoSleepThatCannotHelp(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, tt := range []struct {
		name            string
		after, backoff  time.Duration
		budget          time.Duration
		attempts        int
		earliest, until time.Duration
	}{
		{"a: the wait does not fit", 600 * ms, 300 * ms, 1000 * ms, 1, 600 * ms, 700 * ms},
		{"c: below the floor at entry", 0, 100 * ms, 150 * ms, 0, 0, 20 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := machine.Again(spoils, func() error {
				s := newScript(t, unavailable(tt.after))
				c := newCaller(t, Config{Default: Dependency{
					Name: "price", Limits: Limits{Floor: 200 * ms}, Retry: fixed(10, tt.backoff),
				}})
				_, took, err := ask(t, c, tt.budget, request(t, "GET", s.url, ""))
				came := s.seen()
				var e *Error
				switch {
				case !errors.As(err, &e) || !errors.Is(err, ErrBelowFloor) || e.Class != ClassBelowFloor || !e.Timeout():
					return fmt.Errorf("got %v, want below_floor", err)
				case took < tt.earliest || took > tt.until+slack:
					return fmt.Errorf("back after %v, want %v to %v", took, tt.earliest, tt.until)
				case len(came) != tt.attempts || len(e.Attempts) != len(came):
					return fmt.Errorf("partner saw %v, %d attempts reported, want %d", came, len(e.Attempts), tt.attempts)
				case len(came) > 0 && (e.Last == nil || e.Last.Status != 503 || e.Needed <= e.Left):
					return fmt.Errorf("last failure %+v, left %v, needed %v", e.Last, e.Left, e.Needed)
				case len(came) == 0 && !strings.HasPrefix(err.Error(), "price: not called: 1"):
					return fmt.Errorf("error %q", err)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestB3RetryAfterAgainstTheBudget(t *testing.T) {
	t.Parallel()
	const own = 100 * time.Millisecond
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for _, tt := range []struct {
		name, value string
		fails       int // requests answered 503, then 200
		attempts    int
		gap         [2]time.Duration // between the first two requests
	}{
		{"a day", "86400", 9, 1, [2]time.Duration{}},
		{"19 digits", "9223372036854775807", 9, 1, [2]time.Duration{}},
		{"one second", "1", 1, 2, [2]time.Duration{time.Second, 1200 * time.Millisecond}},
		{"a date one second ahead", "date", 1, 2, [2]time.Duration{0, 1200 * time.Millisecond}},
		{"negative", "-5", 9, 3, [2]time.Duration{own, own}},
		{"fraction", "1.5", 9, 3, [2]time.Duration{own, own}},
		{"word", "abc", 9, 3, [2]time.Duration{own, own}},
		{"past date", date(-time.Hour), 9, 3, [2]time.Duration{own, own}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := machine.Again(spoils, func() error {
				var target time.Time // set by the first request, read after the call
				s := newScript(t, func(n int, w http.ResponseWriter, _ *http.Request) {
					value := tt.value
					if value == "date" && n == 1 {
						target = time.Now().Add(time.Second).Truncate(time.Second)
						value = target.UTC().Format(http.TimeFormat)
					}
					if n <= tt.fails {
						w.Header().Set("Retry-After", value)
						w.WriteHeader(http.StatusServiceUnavailable)
					}
				})
				c := newCaller(t, Config{Default: Dependency{Retry: fixed(3, own)}})
				answer, took, err := ask(t, c, 2*time.Second, request(t, "GET", s.url, ""))
				came := s.seen()
				if len(came) != tt.attempts {
					return fmt.Errorf("partner saw %v, want %d requests (%v)", came, tt.attempts, err)
				}
				var e *Error
				switch {
				case tt.attempts == 1:
					if !errors.As(err, &e) || !strings.Contains(e.Error(), "Retry-After does not fit") || took > 100*time.Millisecond+slack {
						return fmt.Errorf("got %v after %v, want to be told at once that it does not fit", err, took)
					}
					return nil
				case tt.fails == 1 && (err != nil || !answer.OK()):
					return fmt.Errorf("got %v, %v, want success", answer, err)
				case tt.fails > 1 && (err != nil || answer.Status != 503 || len(answer.Result.Attempts) != 3):
					return fmt.Errorf("got %+v, %v, want the last 503", answer, err)
				}
				if gap := came[1] - came[0]; gap < tt.gap[0] || gap > tt.gap[1]+slack {
					return fmt.Errorf("second request after %v, want %v", gap, tt.gap)
				}
				if s.began.Add(came[1]).Before(target) {
					return fmt.Errorf("second request at %v, before the date %v", s.began.Add(came[1]), target)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Every attempt says how much is left now, not how much there was.
func TestDoTellsWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := newScript(t, unavailable(50*time.Millisecond))
	c := newCaller(t, Config{Default: Dependency{Retry: fixed(3, 50*time.Millisecond)}})
	_, _, _ = ask(t, c, 2*time.Second, request(t, "GET", s.url, ""))
	var told []int
	for _, h := range s.heads {
		var ms int
		if _, err := fmt.Sscan(h.Get("X-Request-Timeout-Ms"), &ms); err != nil || h.Get("X-Request-Deadline") == "" {
			t.Fatalf("headers %v", h)
		}
		told = append(told, ms)
	}
	if len(told) != 3 || told[0] > 2000 || told[1] > told[0]-90 || told[2] > told[1]-90 || told[2] < 1000 {
		t.Errorf("told %v, want three values, each at least 90 below the one before", told)
	}
}

func TestDoNeedsABudget(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	if _, err := c.Do(context.Background(), request(t, "GET", "http://127.0.0.1:1/", "")); !errors.Is(err, ErrNoBudget) {
		t.Errorf("got %v, want ErrNoBudget", err)
	}
	client := &http.Client{Transport: c.RoundTripper(), Timeout: 2 * time.Second}
	s := newScript(t, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	resp, err := client.Get(s.url)
	if err != nil {
		t.Fatalf("through http.Client: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "hello" || resp.Status != "200 OK" {
		t.Errorf("through http.Client: %q %q %v", resp.Status, body, err)
	}
}
