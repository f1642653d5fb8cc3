package budgetcaller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/budgetcaller/breaker"
)

// probed is a Caller whose breaker opens after two failures and lets one trial
// call through after the cool-down.
func probed(t *testing.T, cooldown time.Duration) *Caller {
	return newCaller(t, Config{Dependencies: []Dependency{{
		Name:   "price",
		Limits: Limits{Attempt: 300 * time.Millisecond},
		Breaker: &breaker.Config{
			MinimumNumberOfCalls: 2, SlidingWindowSize: 2,
			PermittedNumberOfCallsInHalfOpenState: 1, WaitDurationInOpenState: cooldown,
		},
	}}})
}

// A stall can make a probe late for its limit, or have the cool-down over before the
// calls that are to be refused.
func TestB11OneProbeAndItAlwaysEnds(t *testing.T) {
	t.Parallel()
	if err := machine.Again(spoils, func() error { return oneProbe(t) }); err != nil {
		t.Error(err)
	}
}

func oneProbe(t *testing.T) error {
	const cooldown = 500 * time.Millisecond
	var mode atomic.Value
	mode.Store("hang")
	s := newScript(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		switch mode.Load() {
		case "hang":
			<-r.Context().Done()
		case "404":
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c := probed(t, cooldown)
	get := func(ctx context.Context) error {
		ctx, cancel, err := Begin(Calling(ctx, "price"), 5*time.Second)
		if err != nil {
			return err
		}
		defer cancel()
		_, err = c.Do(ctx, request(t, "GET", s.url, ""))
		return err
	}
	state := func(when, want string) error {
		if snap, ok := c.Breaker("price"); !ok || snap.State.String() != want {
			return fmt.Errorf("%s: breaker %+v, want %s", when, snap, want)
		}
		return nil
	}
	open := func() error {
		mode.Store("hang")
		for range 2 {
			_ = get(t.Context())
		}
		return state("after two calls that hung", "open")
	}
	if err := open(); err != nil {
		return err
	}
	time.Sleep(cooldown + 20*time.Millisecond)
	before := len(s.seen())
	var wg sync.WaitGroup
	refused := make([]time.Duration, 10) // after so long
	for i := range refused {
		wg.Go(func() {
			began := time.Now()
			if errors.Is(get(t.Context()), ErrBreakerOpen) {
				refused[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	slices.Sort(refused)
	if n := len(s.seen()) - before; n != 1 || refused[0] != 0 || refused[1] == 0 {
		return fmt.Errorf("%d of 10 reached the partner, breaker_open after %v; want 1 and 9", n, refused)
	}
	if took := refused[9]; took > 20*time.Millisecond+slack/2 {
		return fmt.Errorf("breaker_open after %v", took)
	}
	if err := state("after a probe that hung, and was cut", "open"); err != nil {
		return err
	}

	time.Sleep(cooldown + 20*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if err := get(ctx); classIn(err) != ClassCanceled {
		return fmt.Errorf("canceled probe: %v", err)
	}
	// It says nothing: its place is free for the next.
	if err := state("after a canceled probe", "half_open"); err != nil {
		return err
	}
	mode.Store("404")
	if err := get(t.Context()); err != nil {
		return fmt.Errorf("after a canceled probe: %w", err)
	}
	if err := state("after a 404, which is an answer", "closed"); err != nil {
		return err
	}

	if err := open(); err != nil {
		return err
	}
	mode.Store("ok")
	began := time.Now()
	for get(t.Context()) != nil {
		if took := time.Since(began); took > cooldown+100*time.Millisecond+slack {
			return fmt.Errorf("no call succeeded within one cool-down, nor in %v", took)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return state("after a good probe", "closed")
}

func classIn(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ClassNone
}

// A panic in the user's own code frees the probe's place.
func TestB11ProbeFreedAfterPanic(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{
		Hooks: Hooks{Attempt: func(e AttemptEvent) {
			if e.Record.Status == http.StatusTeapot {
				panic("hook")
			}
		}},
		Dependencies: []Dependency{{Name: "price", Breaker: &breaker.Config{
			MinimumNumberOfCalls: 1, SlidingWindowSize: 1, PermittedNumberOfCallsInHalfOpenState: 1,
			WaitDurationInOpenState: 50 * time.Millisecond,
		}}},
	})
	s := newScript(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader([]int{500, http.StatusTeapot, 200}[min(n-1, 2)])
	})
	get := func() (panicked any, err error) {
		defer func() { panicked = recover() }()
		ctx, cancel, err := Begin(Calling(t.Context(), "price"), 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer cancel()
		_, err = c.Do(ctx, request(t, "GET", s.url, ""))
		return nil, err
	}
	_, _ = get()
	time.Sleep(70 * time.Millisecond)
	if p, _ := get(); p == nil {
		t.Fatal("the hook's panic was swallowed")
	}
	if _, err := get(); err != nil {
		t.Fatalf("after a probe that panicked: %v", err)
	}
}

// Hundreds of calls at once on one Caller: attempts reported equal requests
// seen, and no slot of the pool is lost.
func TestDoManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n % 5 {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			panic(http.ErrAbortHandler)
		}
	})
	var attempts atomic.Int64
	c := newCaller(t, Config{
		MaxConnsPerHost: 8,
		Hooks:           Hooks{Attempt: func(AttemptEvent) { attempts.Add(1) }},
		Default:         Dependency{Retry: fixed(3, time.Millisecond)},
	})
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			ctx, cancel, err := Begin(t.Context(), 20*time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			defer cancel()
			if i%17 == 0 {
				time.AfterFunc(time.Millisecond, cancel)
			}
			_, _ = c.Do(ctx, request(t, "GET", s.url, ""))
		})
	}
	wg.Wait()
	// A canceled attempt may have been cut before its request arrived.
	if seen := int64(len(s.seen())); seen > attempts.Load() || seen < attempts.Load()-300/17-1 {
		t.Errorf("%d attempts reported, the partner saw %d", attempts.Load(), seen)
	}
	for range 8 {
		if _, _, err := ask(t, c, 5*time.Second, request(t, "GET", s.url, "")); classIn(err) == ClassPoolTimeout || errors.Is(err, ErrBudgetExhausted) {
			t.Fatalf("a slot is lost: %v", err)
		}
	}
}
