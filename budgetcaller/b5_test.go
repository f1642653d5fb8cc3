package budgetcaller

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// lateStub answers 503 after a while, and keeps when each request came.
type lateStub struct {
	after time.Duration
	began time.Time
	came  []time.Duration
}

func (s *lateStub) RoundTrip(req *http.Request) (*http.Response, error) {
	s.came = append(s.came, time.Since(s.began))
	timer := time.NewTimer(s.after)
	defer timer.Stop()
	select {
	case <-timer.C:
		return &http.Response{StatusCode: 503, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// The same in exact time: a real clock is late on a busy machine, and then one
// attempt less fits.
func TestB5Exactly(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, tt := range []struct {
		name                   string
		after, backoff, budget time.Duration
		came                   []time.Duration
		back                   time.Duration
	}{
		{"a: the wait does not fit", 600 * ms, 300 * ms, 1000 * ms, []time.Duration{0}, 600 * ms},
		{"b: as often as fits", 250 * ms, 100 * ms, 1000 * ms, []time.Duration{0, 350 * ms, 700 * ms}, 950 * ms},
		{"c: below the floor at entry", 0, 100 * ms, 150 * ms, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &lateStub{after: tt.after, began: time.Now()}
				c := newCaller(t, Config{Stub: s, Default: Dependency{
					Limits: Limits{Floor: 200 * ms}, Retry: fixed(10, tt.backoff),
				}})
				ctx, cancel, err := Begin(context.Background(), tt.budget)
				if err != nil {
					t.Fatal(err)
				}
				defer cancel()
				_, err = c.Do(ctx, request(t, "GET", "http://price.test/", ""))
				back := time.Since(s.began)
				var e *Error
				if !errors.As(err, &e) || e.Class != ClassBelowFloor || len(e.Attempts) != len(tt.came) {
					t.Fatalf("got %v, want below_floor after %d attempts", err, len(tt.came))
				}
				if !slices.Equal(s.came, tt.came) || back != tt.back {
					t.Errorf("requests at %v, back at %v; want %v, %v", s.came, back, tt.came, tt.back)
				}
				if len(tt.came) > 0 && (e.Last == nil || e.Last.Status != 503) {
					t.Errorf("last failure %+v, want the 503", e.Last)
				}
			})
		})
	}
}
