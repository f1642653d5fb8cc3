package budgetcaller

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// askingStub answers 503 with a Retry-After, and 200 after so many of them.
type askingStub struct {
	value func() string
	fails int
	began time.Time
	came  []time.Duration
}

func (s *askingStub) RoundTrip(req *http.Request) (*http.Response, error) {
	s.came = append(s.came, time.Since(s.began))
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}
	if len(s.came) <= s.fails {
		resp.StatusCode = http.StatusServiceUnavailable
		resp.Header.Set("Retry-After", s.value())
	}
	return resp, nil
}

// The same as over loopback in exact time: there a stall may have the second
// request come late enough although nobody waited for it.
func TestB3Exactly(t *testing.T) {
	t.Parallel()
	const own = 100 * ms
	as := func(value string) func() string { return func() string { return value } }
	date := func(d time.Duration) func() string {
		return func() string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	}
	only, twice := []time.Duration{0}, []time.Duration{0, time.Second}
	thrice := []time.Duration{0, own, 2 * own}
	for _, tt := range []struct {
		name  string
		value func() string
		fails int
		came  []time.Duration
	}{
		{"a day", as("86400"), 9, only},
		{"19 digits", as("9223372036854775807"), 9, only},
		{"a millisecond too long", as("2"), 9, only},
		{"one second", as("1"), 1, twice},
		{"a date one second ahead", date(time.Second), 1, twice},
		{"negative", as("-5"), 9, thrice},
		{"fraction", as("1.5"), 9, thrice},
		{"word", as("abc"), 9, thrice},
		{"past date", date(-time.Hour), 9, thrice},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &askingStub{value: tt.value, fails: tt.fails, began: time.Now()}
				c := newCaller(t, Config{Stub: s, Default: Dependency{Retry: fixed(3, own)}})
				ctx, cancel, err := Begin(context.Background(), 2*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				defer cancel()
				_, err = c.Do(ctx, request(t, "GET", "http://price.test/", ""))
				if back := time.Since(s.began); !slices.Equal(s.came, tt.came) || back != tt.came[len(tt.came)-1] {
					t.Errorf("requests at %v, back at %v; want %v", s.came, back, tt.came)
				}
				var e *Error
				told := errors.As(err, &e) && e.Class == ClassBelowFloor && strings.Contains(e.Error(), "Retry-After does not fit")
				if alone := len(tt.came) == 1; told != alone || !alone && err != nil {
					t.Errorf("got %v, want to be told that the Retry-After does not fit: %v", err, alone)
				}
			})
		})
	}
}
