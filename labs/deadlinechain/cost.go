package deadlinechain

import (
	"math"
	"math/rand/v2"
)

// Draw returns the random time that one call of the leaf takes. What it returns
// is brought within 1 and MaxTime. It must depend on the generator alone.
type Draw func(*rand.Rand) int64

// Uniform draws whole times from low to high, both included, all alike.
func Uniform(low, high int64) (Draw, error) {
	if low < 1 || high < low || high > MaxTime {
		return nil, invalidf("uniform(%d,%d): want 1 <= low <= high <= %d", low, high, int64(MaxTime))
	}
	return func(r *rand.Rand) int64 { return low + r.Int64N(high-low+1) }, nil
}

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

// Lognormal draws times with the given median and 99th percentile: most are near
// the median, few are much longer, as with real services.
func Lognormal(p50, p99 int64) (Draw, error) {
	if p50 < 1 || p99 < p50 || p99 > MaxTime {
		return nil, invalidf("lognormal(p50=%d,p99=%d): want 1 <= p50 <= p99 <= %d", p50, p99, int64(MaxTime))
	}
	mean := math.Log(float64(p50))
	deviation := (math.Log(float64(p99)) - mean) / z99
	return func(r *rand.Rand) int64 {
		// Bounded here: a float beyond int64 has no defined conversion.
		return int64(math.Round(min(math.Exp(mean+deviation*r.NormFloat64()), MaxTime)))
	}, nil
}

// LeafCost returns what the n-th call of the leaf takes, counted from 1, and how
// it answers if it comes to its end: Succeeded, Failed or Permanent. It is
// MaxTime for a leaf that uses all it is given.
func (c Chain) LeafCost(n int64) (int64, Kind) {
	p := plan{Chain: c}
	return min(p.cost(c.Seed, n), MaxTime), answers(p.fate(num(n)))
}

// cost returns the time of the n-th leaf call. It depends on the seed and n
// alone, so that the same call costs the same whatever else is asked.
func (p *plan) cost(seed uint64, n int64) int64 {
	if p.RandomCost == nil {
		return p.leafCost()
	}
	return min(max(1, p.RandomCost(rand.New(rand.NewPCG(seed, uint64(n))))), MaxTime)
}

// leafCost is what one call of the leaf takes if it is not random.
func (p *plan) leafCost() int64 {
	if p.Cost == 0 {
		return forever // all that it is given
	}
	return p.Cost
}
