package backoff

import "math/rand/v2"

// Chance draws jitter. Each call has its own, so that calls at the same time
// cannot take each other's draws: the waits of call n depend on the seed and on
// n alone. It is not safe for concurrent use, and copying it copies what it
// will draw. The zero Chance always draws the same row; make one with NewChance.
type Chance struct{ pcg rand.PCG }

// NewChance returns the draws of call n. Processes that should not wait in step
// need different seeds; a test wants a fixed one.
func NewChance(seed, n uint64) Chance { return Chance{*rand.NewPCG(seed, n)} }

// Float64 returns the next draw, from 0 up to but without 1: what
// rand.New(rand.NewPCG(seed, n)).Float64 would draw, but nothing is allocated.
func (c *Chance) Float64() float64 {
	const bits = 53 // of a float64's fraction
	return float64(c.pcg.Uint64()<<(64-bits)>>(64-bits)) / (1 << bits)
}
