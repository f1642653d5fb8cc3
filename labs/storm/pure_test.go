package storm

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

func TestPaceIsEvenAndExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond int64
		n         int
		want      time.Duration
	}{
		{2000, 0, 0},
		{2000, 1, 500 * time.Microsecond},
		{2000, 2000, time.Second},
		{3, 1, 333333333},
		{3, 3, time.Second},
		{MaxLoad, MaxCalls, 10 * time.Second},
	} {
		if got := (pace{c.perSecond}).due(c.n); got != c.want {
			t.Errorf("call %d at %d/s is due at %v, want %v", c.n, c.perSecond, got, c.want)
		}
	}
}

// Calls are launched when they are due, whatever became of those before them.
func TestPaceDoesNotWaitForAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		launched := pace{100}.run(t.Context(), start, 250, func(n int, late time.Duration) {
			at = append(at, time.Since(start))
			go func() { time.Sleep(time.Hour) }()
			if late != 0 {
				t.Errorf("call %d is %v late", n, late)
			}
		})
		if launched != 250 || len(at) != 250 {
			t.Fatalf("launched %d, saw %d, want 250", launched, len(at))
		}
		for n, got := range at {
			if want := time.Duration(n) * 10 * ms; got != want {
				t.Errorf("call %d was launched at %v, want %v", n, got, want)
			}
		}
		time.Sleep(2 * time.Hour)
	})
}

// A launch that takes long makes the next ones late, and that is told.
func TestPaceTellsHowLateItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lates []time.Duration
		pace{100}.run(t.Context(), time.Now(), 5, func(n int, late time.Duration) {
			lates = append(lates, late)
			if n == 1 {
				time.Sleep(25 * ms)
			}
		})
		// The clock is read once for all that are due: they go out together.
		for n, want := range []time.Duration{0, 0, 15 * ms, 5 * ms, 0} {
			if lates[n] != want {
				t.Errorf("call %d was %v late, want %v; all: %v", n, lates[n], want, lates)
			}
		}
	})
}

func TestPaceStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 55*ms)
		defer cancel()
		if n := (pace{100}).run(ctx, time.Now(), 1000, func(int, time.Duration) {}); n != 6 {
			t.Errorf("launched %d in 55 ms at 100/s, want 6", n)
		}
	})
}

func TestR3Load(t *testing.T) {
	t.Parallel()
	cfg, err := Config{Partner: &Own{}}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Load(); got != 10_000 {
		t.Errorf("%d instances x %d/s x %d attempts are %d, want 10000", cfg.Instances, cfg.Rate, cfg.Attempts, got)
	}
}

func TestR8Throughput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workers     int
		hold, limit time.Duration
		want        float64
	}{
		{50, 200 * ms, 60 * time.Second, 250},
		{50, 30 * time.Second, 60 * time.Second, 5. / 3},
		{50, 30 * time.Second, 500 * ms, 100},
		{5, 20 * ms, 6 * time.Second, 250},
		{5, 3 * time.Second, 6 * time.Second, 5. / 3},
		{5, 3 * time.Second, 50 * ms, 100},
	} {
		if got := Throughput(c.workers, c.hold, c.limit); got != c.want {
			t.Errorf("%d workers, %v each, limit %v: %v/s, want %v", c.workers, c.hold, c.limit, got, c.want)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"negative instances", Config{Instances: -1}, "Instances: -1"},
		{"too many instances", Config{Instances: MaxInstances + 1}, "Instances"},
		{"negative rate", Config{Rate: -5}, "Rate: -5"},
		{"too many attempts", Config{Attempts: 101}, "Attempts: 101"},
		{"too much load", Config{Instances: 1000, Rate: 100}, "500000 requests/s: at most 50000"},
		{"would overflow", Config{Instances: MaxInstances, Rate: MaxRate, Attempts: MaxAttempts}, "at most 50000"},
		{"too long", Config{Healthy: MaxLength, Rate: 1}, "5m9s: at most 5m0s"},
		{"too many calls", Config{Healthy: 4*time.Minute + 50*time.Second}, "calls fall due"},
		{"negative phase", Config{Failure: -time.Second}, "Failure: -1s"},
		{"no time", Config{Recovery: time.Microsecond}, "Recovery: 1µs"},
		{"attempt too long", Config{Attempt: time.Hour}, "Attempt: 1h0m0s"},
		{"no such policy", Config{Policy: 17}, "policy(17)"},
		{"no partner", Config{}, "Partner"},
	} {
		if c.name != "no partner" {
			c.cfg.Partner = &Own{}
		}
		if _, err := Run(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name string
		cfg  SlowConfig
		want string
	}{
		{"negative workers", SlowConfig{Workers: -1}, "Workers: -1"},
		{"too many requests", SlowConfig{Needs: MaxSlowCalls}, "Needs"},
		{"too long", SlowConfig{Failure: time.Hour}, "Failure: 1h0m0s"},
		{"slow is faster", SlowConfig{Usual: time.Second, Slow: ms}, "faster than Usual"},
	} {
		if _, err := RunSlow(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestPolicyWords(t *testing.T) {
	t.Parallel()
	for _, p := range Policies() {
		text, _ := p.MarshalText()
		var back Policy
		if err := back.UnmarshalText(text); err != nil || back != p || p.Summary() == "" {
			t.Errorf("%d: written %q, read back %v, %v, summary %q", p, text, back, err, p.Summary())
		}
	}
	var p Policy
	if err := p.UnmarshalText([]byte("retry")); err == nil || !strings.Contains(err.Error(), "one of none, backoff") {
		t.Errorf(`UnmarshalText("retry"): %v, want an error that names them all`, err)
	}
}

// Each policy adds to the one before it.
func TestPoliciesAddUp(t *testing.T) {
	t.Parallel()
	for _, p := range Policies() {
		d := p.dependency(5, 300*ms)
		got := []bool{
			d.Retry.Backoff.Cap == BackoffCap, d.Retry.Backoff.Cap == BackoffCap && d.Retry.Backoff.Jitter == 0,
			d.Throttle != nil, d.Breaker != nil, !d.KeepDeadline,
		}
		for i, on := range got {
			if want := int(p) > i; on != want {
				t.Errorf("%v: part %d is %v, want %v", p, i+1, on, want)
			}
		}
		if d.Retry.Attempts != 5 || d.Limits.Attempt != 300*ms {
			t.Errorf("%v: %d attempts of %v, want 5 of 300ms", p, d.Retry.Attempts, d.Limits.Attempt)
		}
	}
	if got := Deadline.budget(5, 300*ms, time.Second); got != time.Second {
		t.Errorf("deadline: a call has %v, want the patience of 1s", got)
	}
	// 5 attempts, 100 + 200 + 400 + 800 ms of waits, a second to spare.
	if got := Backoff.budget(5, 300*ms, time.Second); got != 4*time.Second {
		t.Errorf("backoff: a call has %v, want 4s", got)
	}
}

func TestShapeFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond int
		want      Shape
	}{
		{2000, Shape{Workers: 40, Queue: 4000, Work: 10 * ms}},
		{100, Shape{Workers: 2, Queue: 200, Work: 10 * ms}},
		{25, Shape{Workers: 1, Queue: 50, Work: 20 * ms}},
		{1, Shape{Workers: 1, Queue: 20, Work: 50 * ms}},
		{MaxLoad, Shape{Workers: 1000, Queue: 1 << 16, Work: 10 * ms}},
	} {
		got := ShapeFor(c.perSecond)
		if got != c.want {
			t.Errorf("%d calls/s: got %+v, want %+v", c.perSecond, got, c.want)
		}
		if got.Capacity() < 2*float64(c.perSecond) {
			t.Errorf("%d calls/s: %v/s at most, want twice that", c.perSecond, got.Capacity())
		}
	}
}
