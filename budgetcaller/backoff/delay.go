package backoff

import (
	"fmt"
	"time"
)

// MaxDelay is the greatest Base and Cap that are accepted: a year. What is
// longer is a mistake in the unit.
const MaxDelay = 366 * 24 * time.Hour

// Delay is the arithmetic alone, for one wait after attempt (from 1):
//
//	window = min(cap, base * 2^(attempt-1))
//	delay  = window * jitter, rounded down to whole milliseconds
//
// The window stays at cap however great attempt is. Base and cap are whole
// milliseconds from 1 ms to MaxDelay, jitter is from 0 to 1; anything else, NaN
// and infinity too, is an error that names the value and its range.
func Delay(base, cap time.Duration, attempt int, jitter float64) (time.Duration, error) {
	if err := check("base", base); err != nil {
		return 0, err
	}
	if err := check("cap", cap); err != nil {
		return 0, err
	}
	if attempt < 1 {
		return 0, fmt.Errorf("backoff: attempt: %d is out of range: from 1", attempt)
	}
	if !(jitter >= 0 && jitter <= 1) { // written so that NaN fails too
		return 0, fmt.Errorf("backoff: jitter: %v is out of range: from 0 to 1", jitter)
	}
	return scale(window(base, cap, attempt), jitter), nil
}

func check(name string, d time.Duration) error {
	if d < time.Millisecond || d > MaxDelay || d%time.Millisecond != 0 {
		return fmt.Errorf("backoff: %s: %v is out of range: whole milliseconds from 1ms to %v", name, d, MaxDelay)
	}
	return nil
}

// window needs base and cap above zero. Shifting cap down instead of base up is
// what cannot overflow.
func window(base, cap time.Duration, attempt int) time.Duration {
	doublings := uint(max(0, attempt-1))
	if base > cap>>doublings {
		return cap
	}
	return base << doublings
}

// scale counts in milliseconds: a year of them is exact in a float64, a year of
// nanoseconds is not.
func scale(window time.Duration, jitter float64) time.Duration {
	return time.Duration(float64(window/time.Millisecond)*jitter) * time.Millisecond
}
