package deadlinechain

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
)

// chainOf draws a small chain from a seed; with options or without.
func chainOf(seed uint64, options bool) Chain {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(low, high int) int { return low + r.IntN(high-low+1) }
	some := func(low, high int) int64 { // often 0
		if r.IntN(3) > 0 {
			return 0
		}
		return int64(pick(low, high))
	}
	c := Chain{
		Hops: pick(1, 4), Tries: pick(1, 4), Cost: int64(pick(1, 12)), Budget: int64(pick(1, 80)),
		Fails: int64(pick(-1, 12)), Policy: Policy(pick(0, 2)),
	}
	if r.IntN(3) == 0 {
		c.Fails = Always
	}
	for range pick(0, c.Hops) {
		c.PerHop = append(c.PerHop, Hop{Tries: pick(0, 4)})
	}
	if !options {
		return c
	}
	c.PerTry, c.Work, c.Permanent, c.Stop = some(1, 30), some(1, 9), some(1, 9), r.IntN(2) == 0
	c.Backoff = Backoff{Base: some(1, 9)}
	if c.Backoff.Base > 0 {
		c.Backoff.Cap = some(1, 15)
	}
	c.Parallel = int(some(1, 2))
	if c.PerTry > 0 && r.IntN(2) == 0 {
		c.Cost = 0
	}
	for i := range c.PerHop {
		h := &c.PerHop[i]
		h.Budget, h.Work, h.Backoff.Base, h.Parallel = some(1, 60), some(1, 9), some(1, 9), int(some(1, 2))
	}
	return c
}

func FuzzPlainChainAgainstNaive(f *testing.F) {
	for seed := range uint64(3000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := chainOf(seed, false)
		want := (&naive{Chain: c}).run()
		if got := plainOf(simulate(t, c)); got != want {
			t.Errorf("worked out: %+v\n got %+v\nwant %+v", c, got, want)
		}
		if got := plainOf(played(t, c)); got != want {
			t.Errorf("played: %+v\n got %+v\nwant %+v", c, got, want)
		}
	})
}

// played plays what would be worked out.
func played(t *testing.T, c Chain) Result {
	t.Helper()
	p, err := newPlan(c)
	if err != nil {
		t.Fatalf("newPlan(%+v): %v", c, err)
	}
	r, err := newPlay(p, c.Seed).whole()
	if err != nil {
		t.Fatalf("play %+v: %v", c, err)
	}
	return r
}

func FuzzWorkedOutEqualsPlayed(f *testing.F) {
	for seed := range uint64(8000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := chainOf(seed, true)
		p, err := newPlan(c)
		if errors.Is(err, ErrInvalid) {
			return
		}
		got, err := p.solve()
		if errors.Is(err, errPlay) {
			return
		}
		if err != nil {
			t.Fatalf("solve(%+v): %v", c, err)
		}
		want := played(t, c)
		if c.Stop && want.OrphanedOverlap.Sign() != 0 {
			t.Errorf("%+v: work for nobody %v although all are told to stop", c, want.OrphanedOverlap)
		}
		if !reflect.DeepEqual(plainOf(got), plainOf(want)) {
			t.Errorf("%+v\nworked out %+v\nplayed     %+v", c, plainOf(got), plainOf(want))
		}
	})
}
