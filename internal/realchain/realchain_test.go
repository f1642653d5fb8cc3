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
	var wrong []string
	for _, tick := range ticks() {
		var err error
		if r, err = New(c, tick); err != nil {
			t.Fatalf("New(%+v): %v", c, err)
		}
		if m, err = r.Measure(t.Context()); err != nil {
			t.Fatalf("Measure(%+v): %v", c, err)
		}
		if wrong = apart(t, r, m); len(wrong) == 0 {
			return r, m
		}
	}
	t.Errorf("%+v:\n%s", c, strings.Join(wrong, "\n"))
	return r, m
}

// apart says what of m is not as simulated.
func apart(t *testing.T, r *Run, m Measured) []string {
	t.Helper()
	c, sim := r.Chain, r.Simulated
	if !m.Agrees || int64(m.LeafOK) != sim.LeafOK.Int64() || int64(m.AllCalls) != sim.AllCalls.Int64() {
		return []string{fmt.Sprintf("measured  ok %v, calls %v, %d in all, leaf ok %d\nsimulated ok %v, calls %v, %v in all, leaf ok %v",
			m.OK, m.Calls, m.AllCalls, m.LeafOK, sim.OK, sim.Calls, sim.AllCalls, sim.LeafOK)}
	}
	wrong := spansApart(t, r, m)
	if lost := m.Orphaned - r.units(sim.Orphaned.Int64()); lost.Abs() >= r.Tick {
		wrong = append(wrong, fmt.Sprintf("orphaned: %v more than simulated", lost))
	}
	// Work that is cut ends when it does there, but has begun a little late; and
	// the end of an entry that fails early is itself late.
	cut := time.Duration(0)
	if c.PerTry > 0 || c.RandomCost != nil || c.Parallel > 1 || c.Stop {
		cut = time.Duration(m.AllCalls) * r.Late()
	}
	for _, at := range []struct {
		name string
		got  time.Duration
		want *big.Int
		cut  time.Duration
	}{
		{"entry", m.Entry, sim.Entry, 0},
		{"elapsed", m.Elapsed, sim.Elapsed, 0},
		{"work", m.Work, sim.Work, cut},
		{"orphaned", m.Orphaned, sim.Orphaned, cut},
		{"overlap", m.OrphanedOverlap, sim.OrphanedOverlap, cut},
	} {
		// Nothing ends early, but for what a clock of the ledger rounds away.
		want := r.units(at.want.Int64())
		if low, high := want-rounded-at.cut, want+slack; at.got < low || at.got > high {
			wrong = append(wrong, fmt.Sprintf("%s: got %v, want %v to %v", at.name, at.got, low, high))
		}
	}
	return wrong
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
	const samples, longest = 24, 24
	draw, err := deadlinechain.Uniform(1, 7)
	if err != nil {
		t.Fatal(err)
	}
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
		if rng.IntN(4) == 0 {
			c.Parallel = 2
		}
		if rng.IntN(4) == 0 {
			c.PerTry = 2 + rng.Int64N(6)
		}
		if rng.IntN(4) == 0 {
			c.RandomCost, c.Seed = draw, rng.Uint64()
		}
		c.Stop = rng.IntN(4) == 0
		if rng.IntN(3) == 0 {
			c.PerHop, c.Parallel = nil, 0
			for range c.Hops - 1 {
				c.PerHop = append(c.PerHop, deadlinechain.Hop{
					Tries: 1 + rng.IntN(3), Work: rng.Int64N(3), Budget: 2 + rng.Int64N(16),
					Backoff: deadlinechain.Backoff{Base: rng.Int64N(3)},
				})
			}
		}
		r, err := New(c, testTick)
		if err != nil || r.Simulated.Elapsed.Int64() > longest || r.Simulated.LeafCalls.Sign() == 0 || r.Simulated.LeafCalls.Int64() > 40 {
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

// always is a random cost that is none.
func always(cost int64) deadlinechain.Draw { return func(*rand.Rand) int64 { return cost } }

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
		{"per try", func(c *deadlinechain.Chain) { c.PerTry = 5 }, testTick, ""},
		{"a long limit of a try", func(c *deadlinechain.Chain) { c.PerTry = 1_000_000 }, testTick, "at most 1h0m0s"},
		{"parallel", func(c *deadlinechain.Chain) { c.Parallel = 2 }, testTick, ""},
		{"very parallel", func(c *deadlinechain.Chain) { c.Hops, c.Tries, c.Parallel = 2, 1, 101 }, testTick, "101 calls at once: a real hop makes at most 100"},
		{"stop", func(c *deadlinechain.Chain) { c.Stop = true }, testTick, ""},
		{"stop at the moment of a try", func(c *deadlinechain.Chain) { c.Stop, c.Budget, c.Policy = true, 40, deadlinechain.Each }, testTick, "at the very moment"},
		{"random cost", func(c *deadlinechain.Chain) { c.RandomCost = always(10) }, testTick, ""},
		{"long random cost", func(c *deadlinechain.Chain) {
			c.Hops, c.Tries, c.Policy, c.PerTry, c.Stop, c.RandomCost = 2, 1, deadlinechain.Each, 5, true, always(1_000_000)
		}, testTick, "at most 1h0m0s"},
		{"jitter", func(c *deadlinechain.Chain) { c.Backoff = deadlinechain.Backoff{Base: 1, Jitter: true} }, testTick, "jitter"},
		{"a hop's own settings", func(c *deadlinechain.Chain) {
			c.PerHop = []deadlinechain.Hop{{Budget: 30, Work: 1}, {Tries: 2, Backoff: deadlinechain.Backoff{Base: 1}}}
		}, testTick, ""},
		{"many tries of a hop", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{}, {Tries: 101}} }, testTick, "101 tries of hop 2"},
		{"a hop's parallel", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{Parallel: 2}} }, testTick, ""},
		{"a very parallel hop", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{}, {Parallel: 101}} }, testTick, "101 calls at once of hop 2"},
		{"a hop's jitter", func(c *deadlinechain.Chain) {
			c.PerHop = []deadlinechain.Hop{{Backoff: deadlinechain.Backoff{Base: 1, Jitter: true}}}
		}, testTick, "jitter"},
		{"a hop's long budget", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{}, {Budget: 1_000_000}} }, testTick, "at most 1h0m0s"},
		{"the leaf's budget", func(c *deadlinechain.Chain) { c.PerHop = []deadlinechain.Hop{{}, {}, {Budget: 20}} }, testTick, ""},
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
