package breaker

import (
	"fmt"
	"time"
)

// The defaults of Config. Those of SlidingWindowSize and FailureRateThreshold are
// resilience4j's; its others, in this order, are 100 calls, 60 s, 10 calls and
// no bound: too slow for a service that is called a few times a second.
const (
	DefaultSlidingWindowSize                     = 100
	DefaultFailureRateThreshold                  = 50
	DefaultMinimumNumberOfCalls                  = 20
	DefaultWaitDurationInOpenState               = 30 * time.Second
	DefaultPermittedNumberOfCallsInHalfOpenState = 3
	DefaultMaxProbeDuration                      = 10 * time.Minute
)

// The bounds of Config's fields.
const (
	// MaxCalls bounds the three numbers of calls, and with them the memory of
	// a breaker: one bit for each call of the window.
	MaxCalls = 1 << 20
	// MaxDuration bounds the two durations: a year. What is longer is a mistake
	// in the unit.
	MaxDuration = 366 * 24 * time.Hour
)

// Config sets up a Breaker, in resilience4j's terms. Each zero field has the
// default named beside it.
type Config struct {
	// SlidingWindowSize is how many of the last calls count while the breaker
	// is closed. It must not be below MinimumNumberOfCalls: such a breaker
	// would never judge, or judge too early. Zero: DefaultSlidingWindowSize, or
	// MinimumNumberOfCalls where that is greater.
	SlidingWindowSize int
	// MinimumNumberOfCalls is with how many calls in the window the failure
	// rate first means something. Zero: DefaultMinimumNumberOfCalls.
	MinimumNumberOfCalls int
	// FailureRateThreshold, in percent above 0 and up to 100, is the failure
	// rate at which the breaker opens: the same rate or a greater one. Zero:
	// DefaultFailureRateThreshold.
	FailureRateThreshold float64
	// WaitDurationInOpenState is how long nothing is let through before trial
	// calls are. Zero: DefaultWaitDurationInOpenState.
	WaitDurationInOpenState time.Duration
	// PermittedNumberOfCallsInHalfOpenState is how many trial calls are let
	// through and judged together. Zero:
	// DefaultPermittedNumberOfCallsInHalfOpenState.
	PermittedNumberOfCallsInHalfOpenState int
	// MaxProbeDuration is how long a half-open breaker whose places are all
	// taken waits for the last trial call it let through. After that the
	// missing ones count as failed, so that one that is never given back cannot
	// hold the breaker half-open for ever. It should exceed the longest call.
	// resilience4j has no such bound for one call, and by default none for the
	// state. Zero: DefaultMaxProbeDuration.
	MaxProbeDuration time.Duration
}

// withDefaults returns cfg with its zero fields filled in, or an error that
// names the first field out of range.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.MinimumNumberOfCalls == 0 {
		cfg.MinimumNumberOfCalls = DefaultMinimumNumberOfCalls
	}
	if cfg.SlidingWindowSize == 0 {
		cfg.SlidingWindowSize = max(DefaultSlidingWindowSize, cfg.MinimumNumberOfCalls)
	}
	if cfg.PermittedNumberOfCallsInHalfOpenState == 0 {
		cfg.PermittedNumberOfCallsInHalfOpenState = DefaultPermittedNumberOfCallsInHalfOpenState
	}
	if cfg.FailureRateThreshold == 0 {
		cfg.FailureRateThreshold = DefaultFailureRateThreshold
	}
	if cfg.WaitDurationInOpenState == 0 {
		cfg.WaitDurationInOpenState = DefaultWaitDurationInOpenState
	}
	if cfg.MaxProbeDuration == 0 {
		cfg.MaxProbeDuration = DefaultMaxProbeDuration
	}
	return cfg, cfg.check()
}

func (cfg Config) check() error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"MinimumNumberOfCalls", cfg.MinimumNumberOfCalls},
		{"SlidingWindowSize", cfg.SlidingWindowSize},
		{"PermittedNumberOfCallsInHalfOpenState", cfg.PermittedNumberOfCallsInHalfOpenState},
	} {
		if f.value < 1 || f.value > MaxCalls {
			return fmt.Errorf("breaker: %s: %d is out of range: from 1 to %d", f.name, f.value, MaxCalls)
		}
	}
	if cfg.SlidingWindowSize < cfg.MinimumNumberOfCalls {
		return fmt.Errorf("breaker: SlidingWindowSize: %d is below MinimumNumberOfCalls, %d", cfg.SlidingWindowSize, cfg.MinimumNumberOfCalls)
	}
	if r := cfg.FailureRateThreshold; !(r > 0 && r <= 100) { // written so that NaN fails too
		return fmt.Errorf("breaker: FailureRateThreshold: %v is out of range: above 0 and up to 100 percent", r)
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"WaitDurationInOpenState", cfg.WaitDurationInOpenState},
		{"MaxProbeDuration", cfg.MaxProbeDuration},
	} {
		if f.value < 0 || f.value > MaxDuration {
			return fmt.Errorf("breaker: %s: %v is out of range: above 0 and up to %v", f.name, f.value, MaxDuration)
		}
	}
	return nil
}
