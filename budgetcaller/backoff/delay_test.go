package backoff

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		base, cap time.Duration
		attempt   int
		jitter    float64
		want      time.Duration
	}{
		{"half of the first window", 100 * ms, 1000 * ms, 1, 0.5, 50 * ms},
		{"half of the second", 100 * ms, 1000 * ms, 2, 0.5, 100 * ms},
		{"the cap is halved, not what it cut", 100 * ms, 250 * ms, 3, 0.5, 125 * ms},
		{"no jitter drawn", 100 * ms, 1000 * ms, 1, 0, 0},
		{"all of the first window", 100 * ms, 1000 * ms, 1, 1, 100 * ms},
		{"all of the fourth", 100 * ms, 1000 * ms, 4, 1, 800 * ms},
		{"all of the cap", 100 * ms, 1000 * ms, 5, 1, 1000 * ms},
		{"exactly the cap", 100 * ms, 800 * ms, 4, 1, 800 * ms},
		{"rounded down", 5 * ms, 1000 * ms, 1, 0.5, 2 * ms},
		{"rounded down to nothing", 1 * ms, 1000 * ms, 1, 0.999, 0},
		{"cap below base", 100 * ms, 30 * ms, 1, 1, 30 * ms},
		{"where int64 nanoseconds would be negative", 200 * ms, 1000 * ms, 37, 1, 1000 * ms},
		{"where a shift would be zero", 200 * ms, 1000 * ms, 65, 1, 1000 * ms},
		{"the greatest attempt", 200 * ms, 1000 * ms, math.MaxInt, 1, 1000 * ms},
		{"the greatest of all", MaxDelay, MaxDelay, math.MaxInt, 1, MaxDelay},
	} {
		got, err := Delay(c.base, c.cap, c.attempt, c.jitter)
		if got != c.want || err != nil {
			t.Errorf("%s: Delay(%v, %v, %d, %v) = %v, %v, want %v", c.name, c.base, c.cap, c.attempt, c.jitter, got, err, c.want)
		}
	}
}

func TestDelayRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		base, cap time.Duration
		attempt   int
		jitter    float64
		want      string
	}{
		{"no base", 0, 1000 * ms, 1, 1, "backoff: base: 0s is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"negative base", -ms, 1000 * ms, 1, 1, "backoff: base: -1ms is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"part of a millisecond", 1500 * time.Microsecond, 1000 * ms, 1, 1, "backoff: base: 1.5ms is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"no cap", 100 * ms, 0, 1, 1, "backoff: cap: 0s is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"cap too long", 100 * ms, MaxDelay + ms, 1, 1, "backoff: cap: 8784h0m0.001s is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"attempt 0", 100 * ms, 1000 * ms, 0, 1, "backoff: attempt: 0 is out of range: from 1"},
		{"negative attempt", 100 * ms, 1000 * ms, -1, 1, "backoff: attempt: -1 is out of range: from 1"},
		{"negative jitter", 100 * ms, 1000 * ms, 1, -0.1, "backoff: jitter: -0.1 is out of range: from 0 to 1"},
		{"jitter above 1", 100 * ms, 1000 * ms, 1, 1.1, "backoff: jitter: 1.1 is out of range: from 0 to 1"},
		{"NaN", 100 * ms, 1000 * ms, 1, math.NaN(), "backoff: jitter: NaN is out of range: from 0 to 1"},
		{"infinity", 100 * ms, 1000 * ms, 1, math.Inf(1), "backoff: jitter: +Inf is out of range: from 0 to 1"},
		{"minus infinity", 100 * ms, 1000 * ms, 1, math.Inf(-1), "backoff: jitter: -Inf is out of range: from 0 to 1"},
	} {
		got, err := Delay(c.base, c.cap, c.attempt, c.jitter)
		if err == nil || err.Error() != c.want || got != 0 {
			t.Errorf("%s: Delay(%v, %v, %d, %v) = %v, %v, want 0 and %q", c.name, c.base, c.cap, c.attempt, c.jitter, got, err, c.want)
		}
	}
}

// exactDelay is the definition, in numbers that cannot overflow.
func exactDelay(base, cap time.Duration, attempt int, jitter float64) time.Duration {
	window := new(big.Int).Lsh(big.NewInt(base.Milliseconds()), uint(attempt-1))
	if most := big.NewInt(cap.Milliseconds()); window.Cmp(most) > 0 {
		window = most
	}
	return time.Duration(math.Floor(float64(window.Int64())*jitter)) * ms
}

func TestDelayIsTheDefinition(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	millis := func() time.Duration { return time.Duration(1+rng.Int64N(int64(1)<<rng.IntN(35))) * ms }
	for range 20000 {
		base, cap, attempt, jitter := millis(), millis(), 1+rng.IntN(200), rng.Float64()
		got, err := Delay(base, cap, attempt, jitter)
		if want := exactDelay(base, cap, attempt, jitter); got != want || err != nil {
			t.Fatalf("Delay(%v, %v, %d, %v) = %v, %v, want %v", base, cap, attempt, jitter, got, err, want)
		}
	}
}
