package realchain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chaoslab/labs/deadlinechain"
)

// ticks are how long a unit of time is, one after the other until a run comes out
// as simulated: half of it is what a decision may be late, over all calls before
// it, and other tests may keep this machine busy.
func ticks() []time.Duration {
	return []time.Duration{30 * time.Millisecond, 80 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}
}

// testTick is for what does not depend on its length.
const testTick = 40 * time.Millisecond

// slack is what a busy machine may add to a whole run.
const slack = 3 * time.Second

// rounded is what the sum of microseconds in a ledger may lose.
const rounded = 100 * time.Microsecond

// asSimulated measures c until it comes out as simulated, with longer units from
// time to time, and holds the times.
func asSimulated(t *testing.T, c deadlinechain.Chain) (*Run, Measured) {
	t.Helper()
	var r *Run
	var m Measured
	for _, tick := range ticks() {
		var err error
		if r, err = New(c, tick); err != nil {
			t.Fatalf("New(%+v): %v", c, err)
		}
		if m, err = r.Measure(t.Context()); err != nil {
			t.Fatalf("Measure(%+v): %v", c, err)
		}
		lost := m.Orphaned - r.units(r.Simulated.Orphaned.Int64())
		if m.Agrees && lost.Abs() < tick {
			break
		}
	}
	units := func(n *big.Int) time.Duration { return r.units(n.Int64()) }
	sim := r.Simulated
	if !m.Agrees || int64(m.LeafOK) != sim.LeafOK.Int64() || int64(m.AllCalls) != sim.AllCalls.Int64() {
		t.Errorf("%+v:\nmeasured  ok %v, calls %v, %d in all, leaf ok %d\nsimulated ok %v, calls %v, %v in all, leaf ok %v",
			c, m.OK, m.Calls, m.AllCalls, m.LeafOK, sim.OK, sim.Calls, sim.AllCalls, sim.LeafOK)
	}
	holdSpans(t, r, m)
	for _, at := range []struct {
		name      string
		got, want time.Duration
	}{
		{"entry", m.Entry, units(sim.Entry)},
		{"elapsed", m.Elapsed, units(sim.Elapsed)},
		{"work", m.Work, units(sim.Work)},
		{"orphaned", m.Orphaned, units(sim.Orphaned)},
		{"overlap", m.OrphanedOverlap, units(sim.OrphanedOverlap)},
	} {
		// Nothing ends early, but for what a clock of the ledger rounds away.
		if low, high := at.want-rounded, at.want+slack; at.got < low || at.got > high {
			t.Errorf("%+v: %s: got %v, want %v to %v", c, at.name, at.got, low, high)
		}
	}
	return r, m
}

// TestS1RealTriesMultiply: the reference tables, measured.
func TestS1RealTriesMultiply(t *testing.T) {
	t.Parallel()
	plain := deadlinechain.Chain{Hops: 3, Tries: 3, Cost: 2, Budget: 9, Fails: deadlinechain.Always}
	for _, c := range []struct {
		policy deadlinechain.Policy
		calls  int
		lost   int64
	}{
		{deadlinechain.None, 9, 0},
		{deadlinechain.Each, 6, 2},
		{deadlinechain.Pass, 4, 0},
	} {
		t.Run(c.policy.String(), func(t *testing.T) {
			t.Parallel()
			chain := plain
			chain.Policy = c.policy
			r, m := asSimulated(t, chain)
			if lost := r.units(c.lost); m.LeafCalls != c.calls || m.OK || m.Orphaned < lost || m.Orphaned > lost+r.Tick {
				t.Errorf("got %d leaf calls, ok %v, orphaned %v, want %d, false, %v", m.LeafCalls, m.OK, m.Orphaned, c.calls, lost)
			}
			for hop, all := range m.Told {
				for _, told := range all {
					if (told >= 0) != (c.policy == deadlinechain.Pass) {
						t.Errorf("hop %d told a try %d ms under %s", hop+1, told, c.policy)
					}
				}
			}
		})
	}
}

// A budget that ends with the last call exactly is enough, as in the simulation.
func TestTieIsInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget int64
		calls  int
		ok     bool
	}{{4, 2, false}, {8, 4, false}, {10, 5, true}, {12, 5, true}} {
		t.Run(fmt.Sprint(c.budget), func(t *testing.T) {
			t.Parallel()
			_, m := asSimulated(t, deadlinechain.Chain{Hops: 3, Tries: 3, Cost: 2, Budget: c.budget, Fails: 4, Policy: deadlinechain.Pass})
			if m.LeafCalls != c.calls || m.OK != c.ok {
				t.Errorf("got %d leaf calls, ok %v, want %d, %v", m.LeafCalls, m.OK, c.calls, c.ok)
			}
		})
	}
}

// TestSimulatedEqualsReal: a sample of small chains with options.
func TestSimulatedEqualsReal(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 0))
	const samples, longest = 12, 24
	for found := 0; found < samples; {
		c := deadlinechain.Chain{
			Hops: 2 + rng.IntN(3), Tries: 1 + rng.IntN(3), Cost: 1 + rng.Int64N(4), Budget: 2 + rng.Int64N(16),
			Fails: rng.Int64N(6) - 1, Policy: deadlinechain.Policies()[rng.IntN(3)],
		}
		if rng.IntN(3) == 0 {
			c.Work = 1 + rng.Int64N(2)
		}
		if rng.IntN(3) == 0 {
			c.Backoff.Base = 1 + rng.Int64N(2)
		}
		if rng.IntN(4) == 0 {
			c.Permanent = 1 + rng.Int64N(4)
		}
		if rng.IntN(4) == 0 {
			c.PerHop = []deadlinechain.Hop{{Tries: 2}}
		}
		if rng.IntN(3) == 0 {
			c.PerHop = nil
			for range c.Hops - 1 {
				c.PerHop = append(c.PerHop, deadlinechain.Hop{
					Tries: 1 + rng.IntN(3), Work: rng.Int64N(3), Budget: 2 + rng.Int64N(16),
					Backoff: deadlinechain.Backoff{Base: rng.Int64N(3)},
				})
			}
		}
		r, err := New(c, testTick)
		if err != nil || r.Simulated.Elapsed.Int64() > longest || r.Simulated.LeafCalls.Sign() == 0 {
			continue
		}
		found++
		t.Run(fmt.Sprintf("%s %d", c.Policy, found), func(t *testing.T) {
			t.Parallel()
			asSimulated(t, c)
		})
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	r, err := New(deadlinechain.Chain{Hops: 4, Tries: 3, Cost: 10, Fails: deadlinechain.Always}, testTick)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, 100 * time.Millisecond} {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(after, cancel)
		began := time.Now()
		_, err := r.Measure(ctx)
		timer.Stop()
		cancel()
		if took := time.Since(began); !errors.Is(err, context.Canceled) || took > after+closeTime+slack {
			t.Errorf("interrupted after %v: got %v after %v, want %v at once", after, err, took, context.Canceled)
		}
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	plain := deadlinechain.Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: deadlinechain.Always, Policy: deadlinechain.Pass}
	for _, c := range []struct {
		name   string
		change func(*deadlinechain.Chain)
		tick   time.Duration
		want   string
	}{
		{"plain", func(*deadlinechain.Chain) {}, testTick, ""},
		{"no tick", func(*deadlinechain.Chain) {}, 0, "a unit of 0s"},
		{"long tick", func(*deadlinechain.Chain) {}, time.Minute, "a unit of 1m0s"},
		{"part of a millisecond", func(*deadlinechain.Chain) {}, 1500 * time.Microsecond, "whole milliseconds"},
		{"one hop", func(c *deadlinechain.Chain) { c.Hops = 1 }, testTick, "1 hops"},
		{"many hops", func(c *deadlinechain.Chain) { c.Hops = 21 }, testTick, "21 hops"},
		{"many tries", func(c *deadlinechain.Chain) { c.Tries = 101 }, testTick, "101 tries"},
		{"many calls", func(c *deadlinechain.Chain) { c.Hops, c.Tries, c.Policy = 6, 6, deadlinechain.None }, time.Millisecond, "calls in all"},
		{"much time", func(c *deadlinechain.Chain) { c.Cost, c.Policy = 10_000, deadlinechain.None }, testTick, "a real run takes at most"},
		{"a long budget", func(c *deadlinechain.Chain) { c.Budget = 1_000_000 }, testTick, "at most 1h0m0s"},
		{"per try", func(c *deadlinechain.Chain) { c.PerTry = 5 }, testTick, "a limit of each try"},
		{"parallel", func(c *deadlinechain.Chain) { c.Parallel = 2 }, testTick, "calls at once"},
		{"stop", func(c *deadlinechain.Chain) { c.Stop = true }, testTick, "telling those below"},
		{"jitter", func(c *deadlinechain.Chain) { c.Backoff = deadlinechain.Backoff{Base: 1, Jitter: true} }, testTick, "jitter"},
		{"a hop's own settings", func(c *deadlinechain.Chain) {
			c.PerHop = []deadlinechain.Hop{{Budget: 30, Work: 1}, {Tries: 2, Backoff: deadlinechain.Backoff{Base: 1}}}
		}, testTick, ""},
		{"many tries of a hop", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{}, {Tries: 101}} }, testTick, "101 tries of hop 2"},
		{"a hop's parallel", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{Parallel: 2}} }, testTick, "calls at once"},
		{"a hop's jitter", func(c *deadlinechain.Chain) {
			c.PerHop = []deadlinechain.Hop{{Backoff: deadlinechain.Backoff{Base: 1, Jitter: true}}}
		}, testTick, "jitter"},
		{"a hop's long budget", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{}, {Budget: 1_000_000}} }, testTick, "at most 1h0m0s"},
		{"the leaf's budget", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{}, {}, {Budget: 20}} }, testTick, "a budget of the leaf"},
		{"a leaf's budget that the hops do not have", func(c *deadlinechain.Chain) {
			c.Policy, c.Budget, c.PerHop = deadlinechain.Each, 5, []deadlinechain.Hop{{Budget: 20}, {Budget: 20}}
		}, testTick, "a budget of the leaf"},
		{"not a chain", func(c *deadlinechain.Chain) { c.Tries = 0 }, testTick, "tries 0"},
	} {
		chain := plain
		c.change(&chain)
		_, err := New(chain, c.tick)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
