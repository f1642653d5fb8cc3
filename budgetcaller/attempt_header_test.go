package budgetcaller

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"time"
)

// seenAttempts answers 503 and keeps what each request said of its attempt.
type seenAttempts struct{ got []string }

func (s *seenAttempts) RoundTrip(req *http.Request) (*http.Response, error) {
	for name, values := range req.Header {
		if len(name) == len(HeaderAttempt) {
			s.got = append(s.got, fmt.Sprintf("%s: %q", name, values))
		}
	}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func TestAttemptHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		given http.Header
		keep  bool // KeepDeadline
		run   bool // Run instead of Do
		want  []string
	}{
		{name: "counts", want: []string{`X-Request-Attempt: ["1"]`, `X-Request-Attempt: ["2"]`, `X-Request-Attempt: ["3"]`}},
		{name: "beside other headers", given: http.Header{"Accept": {"*/*"}}, want: []string{`X-Request-Attempt: ["1"]`, `X-Request-Attempt: ["2"]`, `X-Request-Attempt: ["3"]`}},
		{name: "the deadline kept back", keep: true, want: []string{`X-Request-Attempt: ["1"]`, `X-Request-Attempt: ["2"]`, `X-Request-Attempt: ["3"]`}},
		{name: "the request's own", given: http.Header{"X-Request-Attempt": {"7"}}, want: []string{`X-Request-Attempt: ["7"]`, `X-Request-Attempt: ["7"]`, `X-Request-Attempt: ["7"]`}},
		{name: "its own in other letters", given: http.Header{"x-request-attempt": {"7"}}, want: []string{`x-request-attempt: ["7"]`, `x-request-attempt: ["7"]`, `x-request-attempt: ["7"]`}},
		{name: "Run adds nothing", run: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &seenAttempts{}
			c := newCaller(t, Config{Stub: s, Default: Dependency{Retry: fixed(3, time.Millisecond), KeepDeadline: tt.keep}})
			req := get(t, "http://price.test/")
			req.Header = tt.given.Clone()
			ctx, cancel := begin(t, t.Context(), 5*time.Second)
			defer cancel()
			if tt.run {
				if _, err := c.Run(ctx, req, nil); err != nil {
					t.Fatal(err)
				}
			} else if _, err := c.Do(ctx, req); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(s.got, tt.want) {
				t.Errorf("sent %v, want %v", s.got, tt.want)
			}
			if !reflect.DeepEqual(req.Header, tt.given) {
				t.Errorf("the request's own header is now %v, was %v", req.Header, tt.given)
			}
		})
	}
}

// On the wire too, with the number of the attempt and not of the connection; an
// empty list of values sends none.
func TestAttemptHeaderOnTheWire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		given http.Header
		want  []string
	}{
		{"counts", nil, []string{"1", "2"}},
		{"none", http.Header{HeaderAttempt: nil}, []string{"", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var got []string
			w := serve(t, func(p *peer) {
				for r := p.request(); r != nil; r = p.request() {
					mu.Lock()
					got = append(got, r.Header.Get(HeaderAttempt))
					mu.Unlock()
					_, _ = io.WriteString(p, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
				}
			})
			c := newCaller(t, Config{Default: Dependency{Retry: fixed(2, time.Millisecond)}})
			req := get(t, w.url("/"))
			req.Header = tt.given
			if _, _, err := ask(t, c, 5*time.Second, req); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("the partner saw %q, want %q", got, tt.want)
			}
		})
	}
}
