package realchain

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"chaoslab/labs/deadlinechain"
)

// TestOptions: each option by itself, simulated and measured.
func TestOptions(t *testing.T) {
	t.Parallel()
	draw, err := deadlinechain.Uniform(1, 6)
	if err != nil {
		t.Fatal(err)
	}
	plain := deadlinechain.Chain{Hops: 3, Tries: 2, Cost: 2, Budget: 9, Fails: deadlinechain.Always, Policy: deadlinechain.Each}
	for _, c := range []struct {
		name   string
		change func(*deadlinechain.Chain)
	}{
		{"per try", func(c *deadlinechain.Chain) { c.PerTry = 3 }},
		{"per try, no deadline", func(c *deadlinechain.Chain) { c.PerTry, c.Policy = 3, deadlinechain.None }},
		{"per try, handed down", func(c *deadlinechain.Chain) { c.PerTry, c.Policy = 3, deadlinechain.Pass }},
		{"the leaf uses all", func(c *deadlinechain.Chain) { c.Hops, c.Tries, c.Cost, c.PerTry, c.Budget = 2, 3, 0, 4, 10 }},
		{"the leaf uses all that is handed down", func(c *deadlinechain.Chain) {
			c.Hops, c.Tries, c.Cost, c.PerTry, c.Budget, c.Policy = 2, 3, 0, 4, 10, deadlinechain.Pass
		}},
		{"the leaf is told to stop", func(c *deadlinechain.Chain) {
			c.Cost, c.PerTry, c.Stop, c.Policy = 0, 4, true, deadlinechain.None
		}},
		{"stop", func(c *deadlinechain.Chain) { c.Tries, c.Stop = 3, true }},
		{"two at once", func(c *deadlinechain.Chain) { c.Parallel, c.Fails = 2, 0 }},
		{"two at once fail", func(c *deadlinechain.Chain) { c.Parallel = 2 }},
		{"two at once, some fail", func(c *deadlinechain.Chain) {
			c.Parallel, c.Fails, c.Policy, c.PerHop = 2, 2, deadlinechain.None, []deadlinechain.Hop{{Tries: 2}, {Tries: 1}}
		}},
		{"two at once, random, handed down", func(c *deadlinechain.Chain) {
			c.Parallel, c.Fails, c.RandomCost, c.Seed, c.Policy, c.Budget = 2, 3, draw, 5, deadlinechain.Pass, 20
		}},
		{"random", func(c *deadlinechain.Chain) { c.RandomCost, c.Seed, c.Cost = draw, 7, 3 }},
		{"random, handed down", func(c *deadlinechain.Chain) {
			c.RandomCost, c.Seed, c.Cost, c.Policy = draw, 7, 3, deadlinechain.Pass
		}},
		{"a budget of the leaf", func(c *deadlinechain.Chain) {
			c.RandomCost, c.Seed, c.PerHop = draw, 3, []deadlinechain.Hop{{}, {}, {Budget: 3}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			chain := plain
			c.change(&chain)
			asSimulated(t, chain)
		})
	}
}

// TestS2RealTries: what each try is told and given, measured.
func TestS2RealTries(t *testing.T) {
	t.Parallel()
	r, m := asSimulated(t, deadlinechain.Chain{
		Hops: 2, Tries: 3, Budget: 10, PerTry: 4, Fails: deadlinechain.Always, Policy: deadlinechain.Pass,
	})
	for i, units := range []int64{4, 4, 2} {
		want := r.units(units)
		if got := time.Duration(m.Told[0][i]) * time.Millisecond; got < want-r.Late() || got > want+r.Late() {
			t.Errorf("try %d was told %v, want %v", i+1, got, want)
		}
	}
}

// Each call of the leaf goes as that of the same way was simulated, in whatever
// order they come; one that was not simulated is numbered behind those.
func TestRealDrawsAreTheSimulated(t *testing.T) {
	t.Parallel()
	draw, err := deadlinechain.Uniform(1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	c := deadlinechain.Chain{
		Hops: 3, Tries: 2, Cost: 1, Fails: 3, RandomCost: draw, Seed: 4, PerHop: []deadlinechain.Hop{{Parallel: 2}, {Tries: 1}},
	}
	r, err := New(c, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	// The first calls of both hops fail, then the second of one of them.
	ways := []string{"/1.1/1.1", "/2.1/1.1", "/1.2/1.1", "/2.2/1.1"}
	first, _ := c.LeafCost(1)
	second, _ := c.LeafCost(2)
	if first > second {
		ways[2], ways[3] = ways[3], ways[2]
	}
	leaf := r.script.leaf()
	for _, n := range []int{3, 1, 2, 0, 4} {
		way := "/9.9/9.9"
		if n < len(ways) {
			way = ways[n]
		}
		cost, how := c.LeafCost(int64(n) + 1)
		want, wantStatus := time.Duration(cost)*time.Millisecond, http.StatusServiceUnavailable
		if how == deadlinechain.Succeeded {
			wantStatus = http.StatusOK
		}
		if got, status := leaf(way); got != want || status != wantStatus {
			t.Errorf("call %d, %s: got %v and %d, want %v and %d", n+1, way, got, status, want, wantStatus)
		}
	}
}

func TestLatenessIsSharedOut(t *testing.T) {
	t.Parallel()
	at := func(moments ...int64) map[int64]bool {
		all := map[int64]bool{}
		for _, m := range moments {
			all[m] = true
		}
		return all
	}
	const late = 60 * time.Millisecond
	for _, c := range []struct {
		name   string
		limits []fired
		want   []lateness
	}{
		{"none fires", []fired{{at(), at()}, {at(), at()}}, []lateness{{late, late}, {late, late}}},
		{"the entry's is the last", []fired{{at(45), at()}, {at(), at()}}, []lateness{{late, late}, {late, late}}},
		{"two tries", []fired{{at(), at(10, 20)}, {at(), at()}}, []lateness{{late, late / 3}, {late, late}}},
		{"tries in a hop with an end", []fired{{at(), at()}, {at(30), at(10)}, {at(), at()}}, []lateness{{late, late}, {late / 2, late / 4}, {late, late}}},
	} {
		if got := shareOut(c.limits, late); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
