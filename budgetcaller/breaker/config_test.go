package breaker

import (
	"math"
	"testing"
	"time"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"window below minimum", Config{SlidingWindowSize: 5, MinimumNumberOfCalls: 10}, "breaker: SlidingWindowSize: 5 is below MinimumNumberOfCalls, 10"},
		{"window below the default minimum", Config{SlidingWindowSize: 19}, "breaker: SlidingWindowSize: 19 is below MinimumNumberOfCalls, 20"},
		{"negative window", Config{SlidingWindowSize: -1}, "breaker: SlidingWindowSize: -1 is out of range: from 1 to 1048576"},
		{"window too large", Config{SlidingWindowSize: MaxCalls + 1}, "breaker: SlidingWindowSize: 1048577 is out of range: from 1 to 1048576"},
		{"negative minimum", Config{MinimumNumberOfCalls: -1}, "breaker: MinimumNumberOfCalls: -1 is out of range: from 1 to 1048576"},
		{"negative trial calls", Config{PermittedNumberOfCallsInHalfOpenState: -3}, "breaker: PermittedNumberOfCallsInHalfOpenState: -3 is out of range: from 1 to 1048576"},
		{"negative threshold", Config{FailureRateThreshold: -1}, "breaker: FailureRateThreshold: -1 is out of range: above 0 and up to 100 percent"},
		{"threshold above 100", Config{FailureRateThreshold: 100.5}, "breaker: FailureRateThreshold: 100.5 is out of range: above 0 and up to 100 percent"},
		{"NaN", Config{FailureRateThreshold: math.NaN()}, "breaker: FailureRateThreshold: NaN is out of range: above 0 and up to 100 percent"},
		{"negative wait", Config{WaitDurationInOpenState: -1}, "breaker: WaitDurationInOpenState: -1ns is out of range: above 0 and up to 8784h0m0s"},
		{"endless wait", Config{WaitDurationInOpenState: math.MaxInt64}, "breaker: WaitDurationInOpenState: 2562047h47m16.854775807s is out of range: above 0 and up to 8784h0m0s"},
		{"negative probe", Config{MaxProbeDuration: -1}, "breaker: MaxProbeDuration: -1ns is out of range: above 0 and up to 8784h0m0s"},
	} {
		b, err := New(c.cfg)
		if err == nil || err.Error() != c.want || b != nil {
			t.Errorf("%s: New(%+v) = %v, %v, want nil and %q", c.name, c.cfg, b, err, c.want)
		}
	}
}

func TestNewFillsInDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		cfg, want Config
	}{
		{"none set", Config{}, Config{100, 20, 50, 30 * time.Second, 3, 10 * time.Minute}},
		{"window gives way", Config{MinimumNumberOfCalls: 300}, Config{300, 300, 50, 30 * time.Second, 3, 10 * time.Minute}},
		{"all set", Config{1, 1, 0.5, 1, 1, 1}, Config{1, 1, 0.5, 1, 1, 1}},
	} {
		if got := newBreaker(t, c.cfg).Config(); got != c.want {
			t.Errorf("%s: New(%+v).Config() = %+v, want %+v", c.name, c.cfg, got, c.want)
		}
	}
}
