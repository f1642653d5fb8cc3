package layers

import (
	"fmt"
	"math/bits"
)

// Tries returns how often the innermost service may be called for one request
// from outside: the tries of all layers multiplied. No layers: 1. A number
// below 1, or a product beyond what an int64 holds, is an error.
func Tries(perLayer ...int) (int64, error) { return multiply("tries", perLayer...) }

// Load returns how many requests a second may reach a service that fails:
// instances, each making perSecond requests with up to attempts attempts. A
// number below 1, or a product beyond what an int64 holds, is an error.
func Load(instances, perSecond, attempts int) (int64, error) {
	return multiply("load", instances, perSecond, attempts)
}

func multiply(what string, factors ...int) (int64, error) {
	product := uint64(1)
	for _, f := range factors {
		if f < 1 {
			return 0, fmt.Errorf("%s: %d is out of range: from 1", what, f)
		}
		high, low := bits.Mul64(product, uint64(f))
		if high > 0 || low > 1<<63-1 {
			return 0, fmt.Errorf("%s: the product of %v is beyond any count", what, factors)
		}
		product = low
	}
	return int64(product), nil
}
