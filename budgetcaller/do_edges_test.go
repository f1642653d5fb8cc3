package budgetcaller

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"chaoslab/budgetcaller/breaker"
)

// A POST that was answered with a redirect has been carried out: only what it
// led to is repeated.
func TestARedirectedPostIsNotRepeated(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	methods := map[string]int{}
	s := newScript(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		methods[r.Method]++
		mu.Unlock()
		if r.Method == http.MethodPost {
			http.Redirect(w, r, "/receipt", http.StatusSeeOther)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	c := newCaller(t, Config{Redirects: 3, Default: Dependency{Retry: fixed(3, time.Millisecond)}})
	answer, _, err := ask(t, c, 5*time.Second, request(t, "POST", s.url, "amount=1"))
	if err != nil || answer.Status != 503 || methods["POST"] != 1 || methods["GET"] != 3 {
		t.Errorf("answer %+v, error %v, methods %v; want one POST and three GET", answer, err, methods)
	}
}

// A panic of the user's own code gives the place in the pool back.
func TestPanicsGiveThePlaceBack(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	port := s.url[strings.LastIndex(s.url, ":"):]
	broken := true
	c := newCaller(t, Config{MaxConnsPerHost: 1, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		if broken {
			panic("lookup")
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	get := func(sink func([]byte) (int, error)) (rec Record, panicked any) {
		defer func() { panicked = recover() }()
		ctx, cancel, err := Begin(t.Context(), 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer cancel()
		return do(t, ctx, c, "http://name.test"+port+"/", nil, writerFunc(sink)), nil
	}
	take := func(p []byte) (int, error) { return len(p), nil }
	for range 3 {
		if _, p := get(take); p != "lookup" {
			t.Fatalf("panic %v, want the lookup's", p)
		}
	}
	broken = false
	for range 3 {
		if _, p := get(func([]byte) (int, error) { panic("sink") }); p != "sink" {
			t.Fatalf("panic %v, want the sink's", p)
		}
	}
	if rec, p := get(take); p != nil || rec.Class != ClassOK {
		t.Errorf("after the panics: %v (%v), panic %v; want ok", rec.Class, rec.Err, p)
	}
}

// What the breaker hears of attempts that never got past our own queue.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		rec   Record
		short bool
		want  breaker.Outcome
	}{
		{"ok", Record{Class: ClassOK}, false, breaker.Success},
		{"404", Record{Class: ClassStatus, Status: 404}, false, breaker.Success},
		{"429", Record{Class: ClassStatus, Status: 429}, false, breaker.Failure},
		{"500", Record{Class: ClassStatus, Status: 500}, false, breaker.Failure},
		{"read timeout", Record{Class: ClassReadTimeout, Phase: PhaseFirstByte}, false, breaker.Failure},
		{"attempt limit at the partner", Record{Class: ClassAttemptTimeout, Phase: PhaseFirstByte}, false, breaker.Failure},
		{"attempt limit in our queue", Record{Class: ClassAttemptTimeout, Phase: PhasePool}, false, breaker.Neutral},
		{"budget in our queue", Record{Class: ClassBudgetExhausted, Phase: PhasePool}, false, breaker.Neutral},
		{"budget at the partner", Record{Class: ClassBudgetExhausted, Phase: PhaseFirstByte}, false, breaker.Failure},
		{"budget below the usual time", Record{Class: ClassBudgetExhausted, Phase: PhaseFirstByte}, true, breaker.Neutral},
		{"pool limit", Record{Class: ClassPoolTimeout, Phase: PhasePool}, false, breaker.Neutral},
		{"canceled", Record{Class: ClassCanceled, Phase: PhaseBody}, false, breaker.Neutral},
	} {
		if got := judge(&tt.rec, tt.short); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Attempts that were not made are not reported as made.
func TestAttemptsNotMadeAreNotReported(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(int, http.ResponseWriter, *http.Request) {})
	skips := 0
	c := newCaller(t, Config{
		Hooks:   Hooks{Skip: func(SkipEvent) { skips++ }},
		Default: Dependency{Limits: Limits{Floor: 2 * time.Millisecond}},
	})
	below, made := 0, 0
	for i := range 300 {
		answer, _, err := ask(t, c, 2*time.Millisecond+time.Duration(i)*time.Microsecond/10, request(t, "GET", s.url, ""))
		var e *Error
		switch {
		case err == nil:
			made += len(answer.Result.Attempts)
		case errors.As(err, &e) && e.Class == ClassBelowFloor:
			below++
			if len(e.Attempts) != 0 || e.Needed != 2*time.Millisecond {
				t.Fatalf("%v with %d attempts, needed %v", err, len(e.Attempts), e.Needed)
			}
		case errors.As(err, &e):
			made += len(e.Attempts)
		}
	}
	if seen := len(s.seen()); seen > made || below != skips {
		t.Errorf("the partner saw %d, reported %d; %d below the floor, %d skips told", seen, made, below, skips)
	}
}

// Who cancels a parent is heard at once.
func TestParentsCancelIsHeardAtOnce(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(int, http.ResponseWriter, *http.Request) {})
	c := newCaller(t, Config{})
	for range 200 {
		parent, stop := context.WithCancel(t.Context())
		ctx, cancel := begin(t, parent, time.Second)
		stop()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Fatalf("Err is %v after the parent's cancel", ctx.Err())
		}
		if _, err := c.Do(ctx, request(t, "GET", s.url, "")); !errors.Is(err, context.Canceled) {
			t.Fatalf("Do: %v, want canceled", err)
		}
		cancel()
	}
	if n := len(s.seen()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// The deadline of an earlier hop never goes on beside or instead of ours.
func TestStaleDeadlineHeaders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		keep bool
		want int // values sent
	}{{"told", false, 1}, {"kept", true, 0}} {
		s := newScript(t, func(int, http.ResponseWriter, *http.Request) {})
		c := newCaller(t, Config{Default: Dependency{KeepDeadline: tt.keep}})
		req := request(t, "GET", s.url, "")
		req.Header["x-request-timeout-ms"] = []string{"30000"}
		req.Header.Set("X-Request-Deadline", "1")
		if _, _, err := ask(t, c, 2*time.Second, req); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"X-Request-Timeout-Ms", "X-Request-Deadline"} {
			if got := s.heads[0].Values(name); len(got) != tt.want || strings.Join(got, "") == "30000" {
				t.Errorf("%s: %s %q", tt.name, name, got)
			}
		}
		if req.Header.Get("X-Request-Deadline") != "1" {
			t.Error("the user's own request was changed")
		}
	}
}

func TestDependenciesByHost(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{Dependencies: []Dependency{
		{Name: "price", Hosts: []string{"Price.test"}}, {Name: "stock", Hosts: []string{"stock.test:8080", "[::1]:9"}},
	}})
	for url, want := range map[string]string{
		"http://price.test/": "price", "http://PRICE.test:80/": "price", "https://price.test:443/": "price",
		"http://price.test:8080/": "", "http://stock.test:8080/": "stock", "http://stock.test/": "", "http://[::1]:9/": "stock",
	} {
		d, err := c.dependencyOf(t.Context(), request(t, "GET", url, "").URL)
		if err != nil || d.Name != want {
			t.Errorf("%s: dependency %q, %v; want %q", url, d.Name, err, want)
		}
	}
	for _, host := range []string{"", "http://x/", "a b", "x:99999", "x/y"} {
		if _, err := New(Config{Dependencies: []Dependency{{Name: "x", Hosts: []string{host}}}}); err == nil {
			t.Errorf("host %q was accepted", host)
		}
	}
	if _, err := newCaller(t, Config{}).Do(Calling(t.Context(), "typo"), request(t, "GET", "http://x/", "")); err == nil || !strings.Contains(err.Error(), "typo") {
		t.Errorf("an unknown name: %v", err)
	}
}
