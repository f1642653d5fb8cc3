package deadline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller/deadline"
)

func TestBegin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		ago   time.Duration // how long the head has been here
		outer time.Duration // deadline of the context from now, 0: none
		v     deadline.Values
		cfg   deadline.Config
		want  time.Duration // after the arrival; 0: over
		by    deadline.Source
	}{
		{"nothing sent, nothing set", 0, 0, deadline.Values{}, deadline.Config{}, deadline.DefaultCap, deadline.ByCap},
		{"own cap", 0, 0, deadline.Values{}, deadline.Config{Cap: time.Minute}, time.Minute, deadline.ByCap},
		{"relative", 0, 0, deadline.Values{Timeout: one("20000")}, deadline.Config{}, 20 * time.Second, deadline.ByTimeout},
		{"relative, waited here", 5 * time.Second, 0, deadline.Values{Timeout: one("20000")}, deadline.Config{}, 20 * time.Second, deadline.ByTimeout},
		{"relative, waited here too long", 5 * time.Second, 0, deadline.Values{Timeout: one("4000")}, deadline.Config{}, 0, deadline.ByTimeout},
		{"cap, waited here too long", 5 * time.Second, 0, deadline.Values{}, deadline.Config{Cap: time.Second}, 0, deadline.ByCap},
		{"zero", 0, 0, deadline.Values{Timeout: one("0")}, deadline.Config{}, 0, deadline.ByTimeout},
		{"the context's is earlier", 0, 10 * time.Second, deadline.Values{Timeout: one("20000")}, deadline.Config{}, 10 * time.Second, deadline.ByTimeout},
		{"the context's is later", 0, 25 * time.Second, deadline.Values{Timeout: one("20000")}, deadline.Config{}, 20 * time.Second, deadline.ByTimeout},
		{"the context's is past", 0, -time.Second, deadline.Values{Timeout: one("20000")}, deadline.Config{}, 0, deadline.ByTimeout},
	} {
		now := time.Now()
		ctx := t.Context()
		if c.outer != 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, now.Add(c.outer))
			defer cancel()
		}
		arrived := now.Add(-c.ago)
		ctx, cancel, v, err := deadline.Begin(ctx, c.v, arrived, c.cfg)
		if c.want == 0 {
			if !errors.Is(err, deadline.ErrOver) || !v.Over || v.By != c.by || ctx != nil || cancel != nil {
				t.Errorf("%s: Begin(%+v) = %v, %+v, %v, want ErrOver, by %v, no context", c.name, c.v, ctx, v, err, c.by)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: Begin(%+v): %v", c.name, c.v, err)
			continue
		}
		until, ok := ctx.Deadline()
		if got := until.Sub(arrived); !ok || got != c.want || v.Over || v.By != c.by {
			t.Errorf("%s: Begin(%+v): deadline %v after the arrival, %+v, want %v by %v", c.name, c.v, got, v, c.want, c.by)
		}
		cancel()
		if ctx.Err() != context.Canceled {
			t.Errorf("%s: after cancel: %v", c.name, ctx.Err())
		}
	}
}

// A caller that has gone already is the handler's to notice, as ever.
func TestBeginCanceled(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	ctx, cancel, v, err := deadline.Begin(gone, deadline.Values{}, time.Now(), deadline.Config{})
	if err != nil || v.Over {
		t.Fatalf("Begin of a cancelled context: %+v, %v, want no error", v, err)
	}
	defer cancel()
	if ctx.Err() != context.Canceled {
		t.Errorf("got %v, want %v", ctx.Err(), context.Canceled)
	}
}

func TestConfigOutOfRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  deadline.Config
		want string // "": accepted
	}{
		{"zero", deadline.Config{}, ""},
		{"the most", deadline.Config{Cap: deadline.MaxCap, Skew: deadline.MaxCap}, ""},
		{"the least", deadline.Config{Cap: 1, Skew: 1}, ""},
		{"negative cap", deadline.Config{Cap: -1}, "deadline: Cap: -1ns is out of range"},
		{"cap too long", deadline.Config{Cap: deadline.MaxCap + 1}, "deadline: Cap: 8784h0m0.000000001s is out of range"},
		{"negative skew", deadline.Config{Skew: -time.Second}, "deadline: Skew: -1s is out of range"},
		{"skew too long", deadline.Config{Skew: 1 << 62}, "deadline: Skew: "},
	} {
		wrap, err := deadline.Middleware(c.cfg)
		_, cancel, _, berr := deadline.Begin(t.Context(), deadline.Values{}, time.Now(), c.cfg)
		if c.want == "" {
			// With 1 ns of cap, Begin rightly says over.
			if err != nil || wrap == nil || (berr != nil && !errors.Is(berr, deadline.ErrOver)) {
				t.Errorf("%s: %+v: got %v and %v, want it accepted", c.name, c.cfg, err, berr)
			}
			if cancel != nil {
				cancel()
			}
			continue
		}
		for _, got := range []error{err, berr} {
			if got == nil || !strings.HasPrefix(got.Error(), c.want) || strings.Contains(got.Error(), "\n") {
				t.Errorf("%s: got %v, want one line that begins %q", c.name, got, c.want)
			}
		}
		if wrap != nil {
			t.Errorf("%s: a middleware came with the error", c.name)
		}
	}
}
