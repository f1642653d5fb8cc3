package retryqueue_test

import (
	"math"
	"testing"

	"chaoslab/labs/retryqueue"
)

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	const most = retryqueue.MaxDelay
	for _, c := range []struct {
		name      string
		base, cap int64
		attempt   int
		jitter    float64
		want      int64
	}{
		{"after attempt 1", 100, 1000, 1, 0.5, 50},
		{"after attempt 2", 100, 1000, 2, 0.5, 100},
		{"the cap is halved, not the window", 100, 250, 3, 0.5, 125},
		{"jitter 0", 100, 1000, 4, 0, 0},
		{"jitter 1 is the window", 100, 1000, 4, 1, 800},
		{"rounded down", 3, 1000, 1, 0.5, 1},
		{"at the cap exactly", 125, 1000, 4, 1, 1000},
		{"base above cap", 500, 200, 1, 1, 200},
		{"no wait", 0, 1000, 9, 1, 0},
		{"shift 36", 200_000_000, most, 37, 1, most},
		{"shift 63", 1, most, 64, 1, most},
		{"shift 64", 1, most, 65, 1, most},
		{"the greatest attempt", 1, most, math.MaxInt, 1, most},
		{"all at their greatest", most, most, math.MaxInt, 1, most},
		{"the greatest window, exact", 1, most, 54, 1, 1 << 53},
	} {
		got, err := retryqueue.RetryDelay(c.base, c.cap, c.attempt, c.jitter)
		if got != c.want || err != nil {
			t.Errorf("%s: RetryDelay(%d, %d, %d, %v) = %d, %v, want %d", c.name, c.base, c.cap, c.attempt, c.jitter, got, err, c.want)
		}
	}
}

func TestRetryDelayRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		base, cap int64
		attempt   int
		jitter    float64
	}{
		{"negative base", -1, 1, 1, 0.5},
		{"base beyond what is exact", retryqueue.MaxDelay + 1, 1, 1, 0.5},
		{"negative cap", 1, -1, 1, 0.5},
		{"cap beyond what is exact", 1, math.MaxInt64, 1, 0.5},
		{"attempt 0", 1, 1, 0, 0.5},
		{"attempt below 0", 1, 1, math.MinInt, 0.5},
		{"jitter below 0", 1, 1, 1, -0.01},
		{"jitter above 1", 1, 1, 1, 1.01},
		{"jitter NaN", 1, 1, 1, math.NaN()},
		{"jitter infinite", 1, 1, 1, math.Inf(1)},
		{"jitter minus infinite", 1, 1, 1, math.Inf(-1)},
	} {
		if got, err := retryqueue.RetryDelay(c.base, c.cap, c.attempt, c.jitter); err == nil {
			t.Errorf("%s: RetryDelay(%d, %d, %d, %v) = %d, want an error", c.name, c.base, c.cap, c.attempt, c.jitter, got)
		}
	}
}

func FuzzRetryDelay(f *testing.F) {
	f.Add(int64(100), int64(1000), 3, 0.5)
	f.Fuzz(func(t *testing.T, base, most int64, attempt int, jitter float64) {
		got, err := retryqueue.RetryDelay(base, most, attempt, jitter)
		if err == nil && (got < 0 || got > most) {
			t.Errorf("RetryDelay(%d, %d, %d, %v) = %d: not from 0 to the cap", base, most, attempt, jitter, got)
		}
		if err != nil && base >= 0 && base <= retryqueue.MaxDelay && most >= 0 && most <= retryqueue.MaxDelay && attempt > 0 && jitter >= 0 && jitter <= 1 {
			t.Errorf("RetryDelay(%d, %d, %d, %v): %v, want no error", base, most, attempt, jitter, err)
		}
	})
}
