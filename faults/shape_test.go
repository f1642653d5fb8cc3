package faults

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestShapes: what is sampled has the percentiles that were asked for, within
// 2 %.
func TestShapes(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for _, tc := range []struct {
		shape string
		want  map[float64]time.Duration // by percentile
	}{
		{"300ms", map[float64]time.Duration{0: 300 * time.Millisecond, 100: 300 * time.Millisecond}},
		{"uniform(100ms,500ms)", map[float64]time.Duration{1: 104 * time.Millisecond, 50: 300 * time.Millisecond, 99: 496 * time.Millisecond}},
		{"normal(300ms,50ms)", map[float64]time.Duration{50: 300 * time.Millisecond, 84.134: 350 * time.Millisecond, 97.725: 400 * time.Millisecond}},
		{"normal(0s,50ms)", map[float64]time.Duration{10: 0, 50: 0, 84.134: 50 * time.Millisecond}},
		{"lognormal(p50=100ms,p99=1s)", map[float64]time.Duration{50: 100 * time.Millisecond, 99: time.Second}},
		{"lognormal(p50=1ms,p99=1ms)", map[float64]time.Duration{1: time.Millisecond, 99: time.Millisecond}},
		{"list(90:100ms,10:2s)", map[float64]time.Duration{50: 100 * time.Millisecond, 89: 100 * time.Millisecond, 91: 2 * time.Second}},
	} {
		s, err := ParseShape(tc.shape)
		if err != nil {
			t.Fatalf("ParseShape(%q): %v", tc.shape, err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		draws := make([]time.Duration, n)
		for i := range draws {
			draws[i] = s.Draw(r)
		}
		slices.Sort(draws)
		for p, want := range tc.want {
			got := draws[min(n-1, int(p/100*n))]
			if math.Abs(float64(got-want)) > 0.02*float64(want) {
				t.Errorf("%s: p%v: got %v, want %v within 2 %%", tc.shape, p, got, want)
			}
		}
		if s.String() != tc.shape {
			t.Errorf("String() = %q, want %q", s, tc.shape)
		}
		if draws[0] < 0 || draws[n-1] > MaxDelay {
			t.Errorf("%s: draws from %v to %v", tc.shape, draws[0], draws[n-1])
		}
	}
}
