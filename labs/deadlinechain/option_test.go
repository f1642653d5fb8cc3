package deadlinechain

import (
	"fmt"
	"reflect"
	"testing"
)

// Each option by itself on the chain of the reference tables.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy Policy
		change func(*Chain)
		want   string
	}{
		// 0, 20 and 50; the waits of the entry's tries come on top.
		{"backoff, no deadline", None, func(c *Chain) { c.Backoff = Backoff{Base: 10} }, "leaf 9 elapsed 210 entry 210 work 90 overlap 0"},
		// 0 and 20 to 30; a third at 50 would not fit, nor would the entry's next.
		{"backoff, pass", Pass, func(c *Chain) { c.Backoff = Backoff{Base: 10} }, "leaf 2 elapsed 30 entry 30 work 20 overlap 0"},
		{"backoff capped", None, func(c *Chain) { c.Backoff = Backoff{Base: 10, Cap: 10} }, "leaf 9 elapsed 170 entry 170 work 90 overlap 0"},
		{"own work, no deadline", None, func(c *Chain) { c.Work = 2 }, "leaf 9 elapsed 98 entry 98 work 98 overlap 0"},
		// 2 of the entry, 2 of hop 2, 3 leaf calls: 34. Hop 2 again would need 12.
		{"own work, pass", Pass, func(c *Chain) { c.Work = 2 }, "leaf 3 elapsed 34 entry 34 work 34 overlap 0"},
		{"tries that differ", None, func(c *Chain) { c.PerHop = []Hop{{Tries: 1}, {Tries: 2}} }, "leaf 2 elapsed 20 entry 20 work 20 overlap 0"},
		// Hop 2 gives up at 20, of its own, and the second time at 40.
		{"a budget of its own, each", Each, func(c *Chain) { c.PerHop = []Hop{{}, {Budget: 20}} }, "leaf 4 elapsed 40 entry 40 work 40 overlap 0"},
		{"a cap of its own, pass", Pass, func(c *Chain) { c.PerHop = []Hop{{}, {Budget: 25}} }, "leaf 4 elapsed 40 entry 40 work 40 overlap 0"},
		{"permanent at once", None, func(c *Chain) { c.Permanent = 1 }, "leaf 1 elapsed 10 entry 10 work 10 overlap 0"},
		{"permanent from the fifth", None, func(c *Chain) { c.Permanent = 5 }, "leaf 5 elapsed 50 entry 50 work 50 overlap 0"},
		{"two at once", None, func(c *Chain) { c.Parallel = 2 }, "leaf 36 elapsed 90 entry 90 work 360 overlap 0"},
		{"two at once, pass", Pass, func(c *Chain) { c.Parallel = 2 }, "leaf 16 elapsed 40 entry 40 work 160 overlap 0"},
		// The try is cut at 15: the leaf is at its second call, which runs on.
		{"per try, no deadline", None, func(c *Chain) { c.PerHop = []Hop{{Tries: 1}}; c.PerTry = 15 }, "leaf 3 elapsed 30 entry 15 work 30 overlap 15"},
	} {
		in := Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: Always, Policy: c.policy}
		c.change(&in)
		r := simulate(t, in)
		got := fmt.Sprintf("leaf %v elapsed %v entry %v work %v overlap %v", r.LeafCalls, r.Elapsed, r.Entry, r.Work, r.OrphanedOverlap)
		if got != c.want {
			t.Errorf("%s: %+v\n got %s\nwant %s", c.name, in, got, c.want)
		}
	}
}

// Being told to stop saves what was left of the call at 40 and the one at 50.
func TestStopSavesTheWorkForNobody(t *testing.T) {
	t.Parallel()
	in := Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: Always, Policy: Each, Stop: true}
	r := simulate(t, in)
	if got, want := fmt.Sprint(r.LeafCalls, r.Elapsed, r.OrphanedOverlap, r.Saved), "5 45 0 15"; got != want {
		t.Errorf("%+v: leaf, elapsed, overlap, saved: got %s, want %s", in, got, want)
	}
	in.Policy = None
	if r := simulate(t, in); r.Saved.Sign() != 0 {
		t.Errorf("%+v: saved %v, want 0: the entry never gives up", in, r.Saved)
	}
	in.PerTry, in.Cost = 5, 0
	if r := simulate(t, in); r.Saved != nil {
		t.Errorf("%+v: saved %v, want nil: without Stop it never ends", in, r.Saved)
	}
}

// The leaf succeeds when the entry has gone: it was done, and nobody knows.
func TestSuccessThatNobodyHearsOf(t *testing.T) {
	t.Parallel()
	in := Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: 4, Policy: Each}
	r := simulate(t, in)
	if r.OK || r.LeafOK.Int64() != 1 || r.Entry.Int64() != 45 || r.Elapsed.Int64() != 50 {
		t.Errorf("%+v: ok %v, leaf ok %v, entry %v, elapsed %v, want false, 1, 45, 50", in, r.OK, r.LeafOK, r.Entry, r.Elapsed)
	}
	// An answer at the very deadline is in time.
	in.Budget = 50
	if r := simulate(t, in); !r.OK {
		t.Errorf("%+v: not ok, want the answer at 50 to be in time", in)
	}
}

func TestRandomCosts(t *testing.T) {
	t.Parallel()
	draw, err := Lognormal(100, 1000)
	if err != nil {
		t.Fatal(err)
	}
	in := Chain{Hops: 1, Tries: 1, Cost: 100, RandomCost: draw, Seed: 7}
	s, err := Repeat(t.Context(), in, 5_000)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[int]float64{50: 100, 99: 1000} {
		if got := float64(s.Elapsed.Percentile(p).Int64()); got < 0.9*want || got > 1.1*want {
			t.Errorf("lognormal(p50=100,p99=1000): p%d of %d runs is %v, want %v", p, s.Runs, got, want)
		}
	}
	again, err := Repeat(t.Context(), in, 5_000)
	if err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("%+v: the same seed gave other runs, %v", in, err)
	}
	in.Seed = 8
	if other, err := Repeat(t.Context(), in, 5_000); err != nil || reflect.DeepEqual(s, other) {
		t.Errorf("%+v: another seed gave the same runs, %v", in, err)
	}
}

func TestJitterIsPaidFromTheBudget(t *testing.T) {
	t.Parallel()
	in := Chain{
		Hops: 3, Tries: 3, Cost: 10, Budget: 100, Fails: 3, Policy: Pass,
		Backoff: Backoff{Base: 20, Jitter: true},
	}
	s, err := Repeat(t.Context(), in, 2000)
	if err != nil {
		t.Fatal(err)
	}
	if s.OK == 0 || s.OK == s.Runs {
		t.Errorf("%+v: %d of %d runs succeed, want some: it depends on the waits", in, s.OK, s.Runs)
	}
	if s.Elapsed.Max().Int64() > 100 || s.OrphanedOverlap.Max().Sign() != 0 {
		t.Errorf("%+v: elapsed up to %v, overlap up to %v", in, s.Elapsed.Max(), s.OrphanedOverlap.Max())
	}
}

func TestPercentilesNeedEnoughRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		runs, p int
		known   bool
	}{{1, 50, false}, {2, 50, true}, {9, 90, false}, {10, 90, true}, {99, 99, false}, {100, 99, true}, {100, 0, false}, {100, 100, false}} {
		s, err := Repeat(t.Context(), Chain{Hops: 2, Tries: 3, Cost: 10, Fails: Always}, c.runs)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Elapsed.Percentile(c.p); (got != nil) != c.known || c.known && got.Int64() != 30 {
			t.Errorf("p%d of %d runs is %v, want one: %v", c.p, c.runs, got, c.known)
		}
		if s.Elapsed.Min().Int64() != 30 || s.Elapsed.Max().Int64() != 30 || s.Elapsed.Mean().Int64() != 30 {
			t.Errorf("%d runs: min %v, mean %v, max %v, want 30", c.runs, s.Elapsed.Min(), s.Elapsed.Mean(), s.Elapsed.Max())
		}
	}
	if s := (Spread{}); s.Min() != nil || s.Max() != nil || s.Mean() != nil || s.Percentile(50) != nil {
		t.Errorf("no runs: min %v, max %v, mean %v, want nil", s.Min(), s.Max(), s.Mean())
	}
}
