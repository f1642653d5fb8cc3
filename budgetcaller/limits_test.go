package budgetcaller

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// C6, the library's half: what bites is refused where it is set, by name.
func TestC6Limits(t *testing.T) {
	t.Parallel()
	fields := map[string]func(*Config, time.Duration){
		"Connect":     func(c *Config, d time.Duration) { c.Limits.Connect = d },
		"Read":        func(c *Config, d time.Duration) { c.Limits.Read = d },
		"Attempt":     func(c *Config, d time.Duration) { c.Limits.Attempt = d },
		"Pool":        func(c *Config, d time.Duration) { c.Limits.Pool = d },
		"Floor":       func(c *Config, d time.Duration) { c.Limits.Floor = d },
		"IdleTimeout": func(c *Config, d time.Duration) { c.IdleTimeout = d },
	}
	for _, tt := range []struct {
		value time.Duration
		ok    bool
	}{
		{0, true}, // the documented default, which is never "no limit" without a budget
		{1, true},
		{400 * time.Microsecond, true},
		{time.Second, true},
		{MaxLimit, true},
		{NoLimit, true}, // in so many words
		{-1, false},
		{-time.Second, false},
		{math.MinInt64, false},
		{MaxLimit + 1, false},
		{NoLimit - 1, false},
	} {
		for name, set := range fields {
			var cfg Config
			set(&cfg, tt.value)
			ok := tt.ok && (tt.value != NoLimit || (name != "Floor" && name != "IdleTimeout"))
			c, err := New(cfg)
			if (err == nil) != ok || (c != nil) != ok {
				t.Errorf("New with %s %v: error %v, want ok: %v", name, tt.value, err, ok)
			}
			if err != nil && (!strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("New with %s %v: %q does not name the field on one line", name, tt.value, err)
			}
		}
		ctx, cancel, err := Begin(t.Context(), tt.value)
		if ok := tt.ok && tt.value != 0; (err == nil) != ok {
			t.Errorf("Begin(%v): %v, want ok: %v", tt.value, err, ok)
		} else if err != nil && (ctx != nil || cancel != nil) {
			t.Errorf("Begin(%v): an error, and a context", tt.value)
		}
		if cancel != nil {
			cancel()
		}
	}
}

func TestNewBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		cfg  Config
		ok   bool
	}{
		{"zero", Config{}, true},
		{"control characters", Config{Default: Dependency{Name: "a\nb"}}, false},
		{"UTF-8", Config{Default: Dependency{Name: "a\xff"}}, false},
		{"UTF-8", Config{Dependencies: []Dependency{{Name: "a\xff"}}}, false},
		{"Hosts", Config{Default: Dependency{Hosts: []string{"price.test"}}}, false},
		{"MaxConnsPerHost", Config{MaxConnsPerHost: 1}, true},
		{"MaxConnsPerHost", Config{MaxConnsPerHost: -1}, false},
		{"MaxConnsPerHost", Config{MaxConnsPerHost: 1<<16 + 1}, false},
		{"MaxHeadBytes", Config{MaxHeadBytes: -1}, false},
		{"MaxHeadBytes", Config{MaxHeadBytes: 64<<20 + 1}, false},
		{"Redirects", Config{Redirects: 100}, true},
		{"Redirects", Config{Redirects: -1}, false},
		{"Redirects", Config{Redirects: 101}, false},
	} {
		_, err := New(tt.cfg)
		if (err == nil) != tt.ok || (err != nil && !strings.Contains(err.Error(), tt.name)) {
			t.Errorf("New(%+v): %v, want ok: %v, naming %s", tt.cfg, err, tt.ok, tt.name)
		}
	}
}

// C6: 400 microseconds end the call at once, wherever they are set.
func TestC6TinyLimits(t *testing.T) {
	t.Parallel()
	const tiny = 400 * time.Microsecond
	w := serve(t, (*peer).hold)
	for _, tt := range []struct {
		name   string
		limits Limits
		budget time.Duration
		want   []Class
	}{
		{"budget, default floor", Limits{}, tiny, []Class{ClassBelowFloor}},
		{"budget, tiny floor", Limits{Floor: 1}, tiny, []Class{ClassBudgetExhausted, ClassBelowFloor}},
		{"budget of 1 ns", Limits{Floor: 1}, 1, []Class{ClassBudgetExhausted, ClassBelowFloor}},
		{"read", Limits{Read: tiny}, 5 * time.Second, []Class{ClassReadTimeout}},
		{"read of 1 ns", Limits{Read: 1}, 5 * time.Second, []Class{ClassReadTimeout, ClassRequestTimeout}},
		{"attempt", Limits{Attempt: tiny}, 5 * time.Second, []Class{ClassAttemptTimeout}},
		{"connect, which may be enough", Limits{Connect: tiny, Read: 50 * ms}, 5 * time.Second, []Class{ClassConnectTimeout, ClassReadTimeout}},
		{"connect of 1 ns", Limits{Connect: 1, Read: 50 * ms}, 5 * time.Second, []Class{ClassConnectTimeout, ClassReadTimeout}},
	} {
		for range 20 {
			rec := once(t, newCaller(t, Config{Limits: tt.limits}), tt.budget, get(t, w.url("/")))
			found := false
			for _, class := range tt.want {
				found = found || rec.Class == class
			}
			if !found || rec.Elapsed > 50*ms+late(rec.Start) {
				t.Errorf("%s: %v after %v (%v), want one of %v", tt.name, rec.Class, rec.Elapsed, rec.Err, tt.want)
			}
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	if _, err := runIn(context.Background(), t, c, time.Second, get(t, "http://127.0.0.1:9/"), nil); !errors.Is(err, ErrNoBudget) {
		t.Errorf("without a budget: %v, want ErrNoBudget", err)
	}
	if _, ok := Left(context.Background()); ok {
		t.Error("Left says that there is a budget")
	}
	outer, cancel, err := Begin(context.Background(), 300*ms)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	inner, cancelInner, err := Begin(outer, time.Hour) // the earlier one stays in force
	if err != nil {
		t.Fatal(err)
	}
	defer cancelInner()
	if left, ok := Left(inner); !ok || left > 300*ms {
		t.Errorf("left %v, %v; want at most 300ms", left, ok)
	}
	waived, cancelWaived, err := Begin(context.Background(), NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := Left(waived); ok {
		t.Error("Left says that a waived budget ends")
	}
	w := serve(t, func(p *peer) { p.answers(answer("hi")) })
	if res, err := runIn(waived, t, c, time.Second, get(t, w.url("/")), nil); err != nil || res.Last().Class != ClassOK {
		t.Errorf("waived: %+v, %v", res, err)
	}
	cancelWaived()
	if res, err := runIn(waived, t, c, time.Second, get(t, w.url("/")), nil); err != nil || res.Last().Class != ClassCanceled {
		t.Errorf("waived and canceled: %+v, %v", res, err)
	}
	// A budget waived inside one that is not is still bounded by it.
	bounded, cancelBounded, err := Begin(outer, NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer cancelBounded()
	silent := serve(t, (*peer).hold)
	res, err := runIn(bounded, t, c, time.Second, get(t, silent.url("/")), nil)
	if err != nil || res.Last().Class != ClassBudgetExhausted {
		t.Errorf("waived inside a budget: %+v, %v", res, err)
	}
}

// With less than the floor left nothing is started, and the error tells both
// figures.
func TestBelowFloor(t *testing.T) {
	t.Parallel()
	w := serve(t, func(p *peer) { p.answers(answer("hi")) })
	c := newCaller(t, Config{Limits: Limits{Floor: 200 * ms}})
	rec := once(t, c, 150*ms, get(t, w.url("/")))
	want{class: ClassBelowFloor, limit: LimitFloor, phases: in(PhaseNone), effects: none(), expected: -1}.check(t, rec)
	var e *Error
	if !errors.As(rec.Err, &e) || e.Configured != 200*ms || e.Left <= 0 || e.Left > 150*ms || !errors.Is(rec.Err, ErrBelowFloor) {
		t.Errorf("error %+v", e)
	}
	if rec.Elapsed > 50*ms || w.conns.Load() != 0 {
		t.Errorf("ended after %v, %d connections", rec.Elapsed, w.conns.Load())
	}
	if rec := once(t, c, 5*time.Second, get(t, w.url("/"))); rec.Class != ClassOK {
		t.Errorf("with enough left: %v (%v)", rec.Class, rec.Err)
	}
}

// What cannot be sent is an error and no record; nothing is dialled for it.
func TestRequestsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	header := func(name, value string) *http.Request {
		req := get(t, "http://127.0.0.1:9/")
		req.Header[name] = []string{value}
		return req
	}
	host := get(t, "http://127.0.0.1:9/")
	host.Host = "a b"
	method := get(t, "http://127.0.0.1:9/")
	method.Method = "GE T"
	for _, tt := range []struct {
		name string
		req  *http.Request
	}{
		{"no URL", &http.Request{}},
		{"no scheme", &http.Request{URL: &url.URL{Host: "127.0.0.1:9"}}},
		{"ftp", &http.Request{URL: &url.URL{Scheme: "ftp", Host: "127.0.0.1:9"}}},
		{"no host", &http.Request{URL: &url.URL{Scheme: "http"}}},
		{"port without host", &http.Request{URL: &url.URL{Scheme: "http", Host: ":80"}}},
		{"port 0", &http.Request{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:0"}}},
		{"port too high", &http.Request{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:65536"}}},
		{"method with a blank", method},
		{"host with a blank", host},
		{"line break in a header", header("X-A", "a\r\nX-B: b")},
		{"header name with a colon", header("X:A", "a")},
		{"empty header name", header("", "a")},
	} {
		res, err := run(t, newCaller(t, Config{}), time.Second, tt.req, nil)
		if err == nil || len(res.Attempts) != 0 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, %d attempts; want an error of one line and none", tt.name, err, len(res.Attempts))
		}
	}
}
