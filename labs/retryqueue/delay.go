package retryqueue

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// MaxDelay is the greatest base and cap of RetryDelay in milliseconds: 2^53, up
// to which the product with the jitter is exact.
const MaxDelay = 1 << 53

// RetryDelay returns how many milliseconds to wait after attempt (from 1):
// floor(window * jitter), where window is base * 2^(attempt-1) but at most most.
// It overflows for no attempt. A base or a cap that is negative or above
// MaxDelay, an attempt below 1, and a jitter that is not a number from 0 to 1 are
// errors.
func RetryDelay(base, most int64, attempt int, jitter float64) (int64, error) {
	switch {
	case base < 0 || base > MaxDelay:
		return 0, fmt.Errorf("base: %d ms is out of range: from 0 to %d", base, int64(MaxDelay))
	case most < 0 || most > MaxDelay:
		return 0, fmt.Errorf("cap: %d ms is out of range: from 0 to %d", most, int64(MaxDelay))
	case attempt < 1:
		return 0, fmt.Errorf("attempt: %d is out of range: the first is 1", attempt)
	case !(jitter >= 0 && jitter <= 1): // also refuses NaN
		return 0, fmt.Errorf("jitter: %v is out of range: from 0 to 1", jitter)
	}
	window := most
	// Saturate before shifting: base<<shift <= most only if base <= most>>shift.
	if shift := attempt - 1; shift < 63 && base <= most>>shift {
		window = base << shift
	}
	return int64(float64(window) * jitter), nil
}

// Backoff is how long a job waits after a failure. The zero value is the default
// of each field.
type Backoff struct {
	Base time.Duration // the window after the first attempt; zero: 1 s
	Cap  time.Duration // the greatest window; zero: 5 min
	// Jitter returns the part of the window that is waited, from 0 to 1. Nil: a
	// random number that depends on Seed, id and attempt and on nothing else, so
	// that workers do not reorder it. It is called by several goroutines.
	Jitter func(id string, attempt int) float64
	Seed   uint64
}

// The defaults of Backoff.
const (
	DefaultBase = time.Second
	DefaultCap  = 5 * time.Minute
)

func (b Backoff) withDefaults() (Backoff, error) {
	var err error
	if b.Base, err = wholeMillis("Backoff.Base", b.Base, DefaultBase); err != nil {
		return b, err
	}
	if b.Cap, err = wholeMillis("Backoff.Cap", b.Cap, DefaultCap); err != nil {
		return b, err
	}
	if b.Jitter == nil {
		seed := b.Seed
		b.Jitter = func(id string, attempt int) float64 {
			h := fnv.New64a()
			_, _ = h.Write([]byte(id)) // never fails
			return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(attempt))).Float64()
		}
	}
	return b, nil
}

// delay returns the wait after attempt, at least after.
func (b Backoff) delay(id string, attempt int, after time.Duration) (int64, error) {
	d, err := RetryDelay(b.Base.Milliseconds(), b.Cap.Milliseconds(), attempt, b.Jitter(id, attempt))
	// Round up what the partner asked for: never before its time.
	return max(d, (after + time.Millisecond - 1).Milliseconds()), err
}

// wholeMillis returns d or its default, or an error if it is no positive number
// of whole milliseconds.
func wholeMillis(name string, d, zero time.Duration) (time.Duration, error) {
	if d == 0 {
		return zero, nil
	}
	if d < 0 || d%time.Millisecond != 0 {
		return d, fmt.Errorf("%s: %v is out of range: whole milliseconds, at least 1", name, d)
	}
	return d, nil
}
