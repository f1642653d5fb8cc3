package budgetcaller

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A small body that is in memory goes out with its head, in one piece: a TLS
// record is what was written at once. A reader that may wait is no such body:
// its head does not wait for it.
func TestSmallBodyGoesWithItsHead(t *testing.T) {
	t.Parallel()
	cert, roots := authority(t)
	for _, tt := range []struct {
		name string
		body io.Reader
		want bool // in one piece
	}{
		{"strings.Reader", strings.NewReader("hello"), true},
		{"bytes.Reader", bytes.NewReader([]byte("hello")), true},
		{"bytes.Buffer", bytes.NewBufferString("hello"), true},
		{"any reader", readerFunc(strings.NewReader("hello").Read), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first := make(chan string, 1)
			w := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) {
				buf := make([]byte, 64<<10)
				n, err := p.Read(buf)
				if err != nil {
					return
				}
				first <- string(buf[:n])
				got := string(buf[:n])
				for !strings.HasSuffix(got, "hello") {
					n, err := p.Read(buf)
					if err != nil {
						return
					}
					got += string(buf[:n])
				}
				p.send(answer("hi"))
			})
			c := newCaller(t, Config{TLS: &tls.Config{RootCAs: roots}})
			req := newRequest(t, http.MethodPost, w.url("/"), tt.body)
			req.ContentLength = 5
			a, _, err := ask(t, c, 5*time.Second, req)
			if err != nil || string(a.Body) != "hi" {
				t.Fatalf("%+v, %v", a, err)
			}
			got := <-first
			if one := strings.HasSuffix(got, "\r\n\r\nhello"); one != tt.want {
				t.Errorf("first written: %q, in one piece %v, want %v", got, one, tt.want)
			}
		})
	}
}

// It is also had again: for another attempt, and in the place of a connection
// that had died while idle.
func TestSmallBodyIsRepeated(t *testing.T) {
	t.Parallel()
	var bodies atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && string(body) == "hello" && r.ContentLength == 5 {
			bodies.Add(1)
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	c := newCaller(t, Config{Default: Dependency{Retry: fixed(3, time.Millisecond)}})
	a, _, err := ask(t, c, 5*time.Second, newRequest(t, http.MethodPost, srv.URL, strings.NewReader("hello")))
	if err != nil || len(a.Result.Attempts) != 3 || bodies.Load() != 3 {
		t.Errorf("%+v, %v; the partner read it %d times, want 3", a, err, bodies.Load())
	}
	for _, rec := range a.Result.Attempts {
		if rec.Phase != PhaseBody || rec.Effect != EffectAnswered {
			t.Errorf("%+v", rec)
		}
		if _, ok := rec.Phases.Took(PhaseFirstByte); !ok {
			t.Errorf("no phase first_byte: %+v", rec.Phases)
		}
	}
}

// A body that is not as long as announced is the caller's own mistake, and
// nothing of it reaches the partner.
func TestSmallBodyOfAnotherLength(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{3, 9} {
		w := serve(t, func(p *peer) { p.answers(answer("hi")) })
		c := newCaller(t, Config{})
		req := newRequest(t, http.MethodPost, w.url("/"), strings.NewReader("hello"))
		req.ContentLength = length
		_, _, err := ask(t, c, 5*time.Second, req)
		var e *Error
		if !errors.As(err, &e) || e.Class != ClassCanceled || e.Err == nil {
			t.Errorf("length %d: %v", length, err)
		}
		if n := w.requests.Load(); n != 0 {
			t.Errorf("length %d: the partner read %d requests", length, n)
		}
	}
}
