package deadlinechain

import (
	"errors"
	"math/big"
	"testing"
	"time"
)

// Whatever the options: nothing runs past a deadline that is passed down.
func FuzzPassNeverRunsPastTheBudget(f *testing.F) {
	for seed := range uint64(3000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, random := range []bool{false, true} {
			c := chainOf(seed, true)
			c.Policy = Pass
			if random && c.Cost > 0 {
				c.RandomCost, _ = Uniform(1, 3*c.Cost)
			}
			r, err := Simulate(c)
			if errors.Is(err, ErrInvalid) {
				continue
			}
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			budget := c.Budget
			if len(c.PerHop) > 0 && c.PerHop[0].Budget > 0 {
				budget = c.PerHop[0].Budget
			}
			if r.Elapsed.Cmp(num(budget)) > 0 || r.OrphanedOverlap.Cmp(num(0)) != 0 && c.Parallel < 2 && !parallel(c) {
				t.Errorf("%+v: elapsed %v of %d, overlap %v", c, r.Elapsed, budget, r.OrphanedOverlap)
			}
		}
	})
}

// parallel says whether a hop makes several calls at once: one of them may then
// go on, within the deadline, when another's failure has ended the entry.
func parallel(c Chain) bool {
	for _, h := range c.PerHop {
		if h.Parallel > 1 {
			return true
		}
	}
	return false
}

func FuzzPlainProperties(f *testing.F) {
	for seed := range uint64(3000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := chainOf(seed, false)
		of := func(p Policy, budget int64) Result {
			c := c
			c.Policy, c.Budget = p, budget
			return simulate(t, c)
		}
		none, each, pass := of(None, c.Budget), of(Each, c.Budget), of(Pass, c.Budget)
		if most := c.Budget / c.Cost; pass.LeafCalls.Cmp(num(most)) > 0 {
			t.Errorf("%+v: pass makes %v leaf calls, the budget has room for %d", c, pass.LeafCalls, most)
		}
		if each.LeafCalls.Cmp(pass.LeafCalls) < 0 || none.LeafCalls.Cmp(each.LeafCalls) < 0 {
			t.Errorf("%+v: leaf calls pass %v, each %v, none %v: want them in that order", c, pass.LeafCalls, each.LeafCalls, none.LeafCalls)
		}
		for _, p := range Policies() {
			r, more := of(p, c.Budget), of(p, c.Budget+1+int64(seed%7))
			if r.OK && !more.OK {
				t.Errorf("%+v: policy %s succeeds, and with more budget it does not", c, p)
			}
			if r.Orphaned.Cmp(r.OrphanedOverlap) > 0 || r.OrphanedOverlap.Cmp(r.Work) > 0 {
				t.Errorf("%+v: policy %s: orphaned %v, overlap %v, work %v: want them in that order", c, p, r.Orphaned, r.OrphanedOverlap, r.Work)
			}
		}
	})
}

// What nobody could count is exact, and comes at once.
func TestHugeChainsAreExact(t *testing.T) {
	t.Parallel()
	power := func(base, n int64) *big.Int { return new(big.Int).Exp(num(base), num(n), nil) }
	huge := Chain{Hops: 64, Tries: 10, Cost: 10, Budget: 45, Fails: Always}
	r := simulate(t, huge)
	// 10 + 100 + … + 10^63 are sent, 10^63 executed.
	sent := new(big.Int).Div(minus(power(10, 64), num(10)), num(9))
	for what, c := range map[string]struct{ got, want *big.Int }{
		"leaf calls":     {r.LeafCalls, power(10, 63)},
		"all calls":      {r.AllCalls, plus(sent, power(10, 63))},
		"elapsed":        {r.Elapsed, power(10, 64)},
		"calls of hop 2": {r.Calls[1], num(10)},
	} {
		if c.got.Cmp(c.want) != 0 {
			t.Errorf("%s of %+v: got %v, want %v", what, huge, c.got, c.want)
		}
	}
	huge.Policy = Pass
	// One call of each hop between, four of the leaf.
	if got, want := show(simulate(t, huge)), "leaf 4 all 70 elapsed 40 orphaned 0 overlap 0 ok false"; got != want {
		t.Errorf("%+v: got %s, want %s", huge, got, want)
	}
	// Success somewhere in the middle of them.
	huge.Policy, huge.Fails = None, 1_000_000_007
	r = simulate(t, huge)
	if want := num(1_000_000_008); r.LeafCalls.Cmp(want) != 0 || !r.OK || r.Elapsed.Cmp(times(want, 10)) != 0 {
		t.Errorf("%+v: got %v leaf calls in %v, ok %v, want %v", huge, r.LeafCalls, r.Elapsed, r.OK, want)
	}
}

// The bound is generous: the largest plain chains take a small part of it.
func TestTheLargestPlainChainsComeSoon(t *testing.T) {
	t.Parallel()
	for _, policy := range Policies() {
		for budget, fails := range map[int64]int64{999_999: Always, MaxTime: 123_456_789_012} {
			c := Chain{Hops: MaxHops, Tries: MaxTries, Cost: 1, Budget: budget, Fails: fails, Policy: policy}
			start := time.Now()
			simulate(t, c)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%+v took %v", c, took)
			}
		}
	}
}
