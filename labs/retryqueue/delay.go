package retryqueue

import (
	"hash/fnv"
	"time"

	"chaoslab/budgetcaller/backoff"
)

// Backoff is how long a job waits after a failure: backoff.Delay of Base, Cap,
// the attempt and a jitter. Every zero field has the default named beside it.
type Backoff struct {
	Base time.Duration // the window after the first attempt, in whole milliseconds; zero: 1 s
	Cap  time.Duration // the greatest window, in whole milliseconds; zero: 5 min
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
	if b.Base == 0 {
		b.Base = DefaultBase
	}
	if b.Cap == 0 {
		b.Cap = DefaultCap
	}
	if b.Jitter == nil {
		seed := b.Seed
		b.Jitter = func(id string, attempt int) float64 {
			h := fnv.New64a()
			_, _ = h.Write([]byte(id)) // never fails
			chance := backoff.NewChance(seed^h.Sum64(), uint64(attempt))
			return chance.Float64()
		}
	}
	_, err := backoff.Delay(b.Base, b.Cap, 1, 0)
	return b, err
}

// delay returns the wait after attempt, at least after.
func (b Backoff) delay(id string, attempt int, after time.Duration) (int64, error) {
	d, err := backoff.Delay(b.Base, b.Cap, attempt, b.Jitter(id, attempt))
	// Round up what the partner asked for: never before its time.
	least := after.Milliseconds()
	if after%time.Millisecond > 0 {
		least++
	}
	return max(d.Milliseconds(), least), err
}
