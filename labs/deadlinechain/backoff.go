package deadlinechain

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Backoff is how long a hop waits before it tries again. The zero value waits
// not at all.
type Backoff struct {
	Base   int64 // the wait after the first try; it doubles with each further one
	Cap    int64 // the longest wait; 0: MaxTime
	Jitter bool  // take a random part of the wait, from none to all of it
}

// Window returns the longest wait after the given attempt, counted from 1:
// min(Cap, Base*2^(attempt-1)). It does not overflow at any attempt, and is 0
// for an attempt below 1.
func (b Backoff) Window(attempt int) int64 {
	if attempt < 1 || b.Base <= 0 {
		return 0
	}
	most := b.most()
	if attempt-1 >= 62 || b.Base > most>>(attempt-1) {
		return most
	}
	return b.Base << (attempt - 1)
}

// Delay returns the wait after the given attempt, counted from 1, with the
// jitter that was drawn: the whole part of Window*jitter. A jitter that is not
// within [0,1] and an attempt below 1 are errors.
func (b Backoff) Delay(attempt int, jitter float64) (int64, error) {
	switch {
	case attempt < 1:
		return 0, invalidf("attempt %d: attempts count from 1", attempt)
	case math.IsNaN(jitter) || jitter < 0 || jitter > 1:
		return 0, invalidf("jitter %v is not within 0 and 1", jitter)
	}
	if err := b.check(); err != nil {
		return 0, err
	}
	return b.delay(attempt, jitter), nil
}

func (b Backoff) delay(attempt int, jitter float64) int64 {
	// MaxTime is far below 2^53, so the window is exact as a float.
	return int64(float64(b.Window(attempt)) * jitter)
}

// wait returns the wait after the given attempt, drawn from rng if it is random.
func (b Backoff) wait(attempt int, rng *rand.Rand) int64 {
	if b.Jitter && b.Base > 0 {
		return b.delay(attempt, rng.Float64())
	}
	return b.Window(attempt)
}

func (b Backoff) most() int64 {
	if b.Cap == 0 {
		return MaxTime
	}
	return b.Cap
}

// waits returns the sum of the waits after the first n attempts, without jitter.
func (b Backoff) waits(n int) amount {
	sum := int64(0)
	for i := 1; i <= n; i++ {
		w := b.Window(i)
		if w == b.most() || w == 0 {
			return plus(num(sum), times(num(w), int64(n-i+1)))
		}
		sum += w
	}
	return num(sum)
}

func (b Backoff) check() error {
	switch {
	case b.Base < 0 || b.Base > MaxTime:
		return invalidf("backoff %d is not within 0 and %d", b.Base, int64(MaxTime))
	case b.Cap < 0 || b.Cap > MaxTime:
		return invalidf("backoff cap %d is not within 0 and %d", b.Cap, int64(MaxTime))
	case b.Base == 0 && (b.Cap > 0 || b.Jitter):
		return fmt.Errorf("%w: a backoff cap or jitter without a backoff", ErrInvalid)
	}
	return nil
}
