package deadlinechain

import (
	"math"
	"math/big"
)

// amount is a count or a time of any size. It is never changed once made.
type amount = *big.Int

// forever is a limit that never comes. Every other limit is at most MaxTime.
const forever int64 = math.MaxInt64

func num(n int64) amount             { return big.NewInt(n) }
func plus(a, b amount) amount        { return new(big.Int).Add(a, b) }
func minus(a, b amount) amount       { return new(big.Int).Sub(a, b) }
func times(a amount, n int64) amount { return new(big.Int).Mul(a, num(n)) }
func greater(a, b amount) amount     { return pick(a, b, a.Cmp(b) >= 0) }
func pick(a, b amount, first bool) amount {
	if first {
		return a
	}
	return b
}

// within says whether a is at most limit, which may be forever.
func within(a amount, limit int64) bool {
	return limit == forever || a.IsInt64() && a.Int64() <= limit
}

// left returns how much of limit there is at time t, 0 if none.
func left(limit, t int64) int64 {
	if limit == forever {
		return forever
	}
	return max(0, limit-t)
}
