package deadlinechain

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	plain := Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: Always, Policy: Pass}
	for _, c := range []struct {
		name   string
		change func(*Chain)
		want   string // in the error
	}{
		{"nothing set", func(c *Chain) { *c = Chain{} }, "hops 0"},
		{"no hops", func(c *Chain) { c.Hops = 0 }, "hops 0"},
		{"negative hops", func(c *Chain) { c.Hops = -3 }, "hops -3"},
		{"too many hops", func(c *Chain) { c.Hops = math.MaxInt }, "want 1 to 1000"},
		{"no tries", func(c *Chain) { c.Tries = 0 }, "tries 0"},
		{"no tries, one hop", func(c *Chain) { c.Hops, c.Tries = 1, 0 }, "tries 0"},
		{"negative tries", func(c *Chain) { c.Tries = -1 }, "tries -1"},
		{"too many tries", func(c *Chain) { c.Tries = math.MaxInt }, "want 1 to 1000000"},
		{"no cost", func(c *Chain) { c.Cost = 0 }, "cost 0"},
		{"negative cost", func(c *Chain) { c.Cost = -10 }, "cost -10"},
		{"overflowing cost", func(c *Chain) { c.Cost = math.MaxInt64 }, "want 1 to 1000000000000"},
		{"no budget", func(c *Chain) { c.Budget = 0 }, "policy pass needs a budget"},
		{"no budget for each", func(c *Chain) { c.Budget, c.Policy = 0, Each }, "policy each needs a budget"},
		{"negative budget", func(c *Chain) { c.Budget = -1 }, "budget -1"},
		{"negative budget, not used", func(c *Chain) { c.Budget, c.Policy = -1, None }, "budget -1"},
		{"overflowing budget", func(c *Chain) { c.Budget = math.MaxInt64 }, "budget 9223372036854775807"},
		{"fails", func(c *Chain) { c.Fails = -2 }, "fails -2"},
		{"policy", func(c *Chain) { c.Policy = 3 }, "policy(3)"},
		{"per try", func(c *Chain) { c.PerTry = -1 }, "per try -1"},
		{"backoff", func(c *Chain) { c.Backoff.Base = -1 }, "backoff -1"},
		{"backoff cap", func(c *Chain) { c.Backoff = Backoff{Base: 1, Cap: math.MaxInt64} }, "backoff cap"},
		{"jitter alone", func(c *Chain) { c.Backoff.Jitter = true }, "without a backoff"},
		{"work", func(c *Chain) { c.Work = -1 }, "work -1"},
		{"parallel", func(c *Chain) { c.Parallel = -1 }, "-1 calls at once"},
		{"permanent", func(c *Chain) { c.Permanent = -1 }, "permanent"},
		{"trace", func(c *Chain) { c.Trace = MaxTrace + 1 }, "trace"},
		{"settings for no hop", func(c *Chain) { c.PerHop = make([]Hop, 4) }, "settings for 4 hops"},
		{"tries of one hop", func(c *Chain) { c.PerHop = []Hop{{}, {Tries: -1}} }, "hop 2: tries -1"},
		{"budget of one hop", func(c *Chain) { c.PerHop = []Hop{{Budget: -1}} }, "hop 1: budget -1"},
		{"work of one hop", func(c *Chain) { c.PerHop = []Hop{{Work: -1}} }, "hop 1: work -1"},
		{"endless leaf", func(c *Chain) { c.Cost, c.PerTry, c.Policy = 0, 5, None }, "never ends"},
		{"endless entry", func(c *Chain) { c.Hops, c.Cost, c.PerTry, c.Policy, c.Stop = 1, 0, 5, None, true }, "never ends"},
	} {
		in := plain
		c.change(&in)
		r, err := Simulate(in)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Simulate(%+v) = %v, %v, want ErrInvalid with %q", c.name, in, r, err, c.want)
		}
		if _, err := Repeat(t.Context(), in, 2); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Repeat(%+v) = %v, want ErrInvalid", c.name, in, err)
		}
	}
	for _, runs := range []int{0, -1, MaxRuns + 1} {
		if _, err := Repeat(t.Context(), plain, runs); !errors.Is(err, ErrInvalid) {
			t.Errorf("Repeat with %d runs: %v, want ErrInvalid", runs, err)
		}
	}
}

func TestBadDrawsAndDelaysAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]int64{{0, 5}, {-1, 5}, {5, 4}, {1, math.MaxInt64}} {
		if _, err := Uniform(c[0], c[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("Uniform(%d, %d): %v, want ErrInvalid", c[0], c[1], err)
		}
		if _, err := Lognormal(c[0], c[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("Lognormal(%d, %d): %v, want ErrInvalid", c[0], c[1], err)
		}
	}
	for _, c := range []struct {
		attempt int
		jitter  float64
	}{{0, 0.5}, {-1, 0.5}, {1, -0.1}, {1, 1.1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if d, err := (Backoff{Base: 100}).Delay(c.attempt, c.jitter); !errors.Is(err, ErrInvalid) {
			t.Errorf("Delay(%d, %v) = %d, %v, want ErrInvalid", c.attempt, c.jitter, d, err)
		}
	}
}

func TestPolicyWords(t *testing.T) {
	t.Parallel()
	for _, p := range Policies() {
		text, err := p.MarshalText()
		var back Policy
		if err != nil || back.UnmarshalText(text) != nil || back != p {
			t.Errorf("policy %d: %q, %v, and back %d", p, text, err, back)
		}
	}
	var p Policy
	if err := p.UnmarshalText([]byte("passed")); err == nil || !strings.Contains(err.Error(), "none, each, pass") {
		t.Errorf("policy passed: %v, want an error with all words", err)
	}
}

func TestTooLargeIsSaid(t *testing.T) {
	t.Parallel()
	draw, err := Uniform(5, 15)
	if err != nil {
		t.Fatal(err)
	}
	c := Chain{Hops: 64, Tries: 10, Cost: 10, Fails: Always, RandomCost: draw}
	if _, err := Simulate(c); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "with a random cost every call") || strings.Contains(err.Error(), "budget") {
		t.Errorf("Simulate(%+v): %v, want ErrTooLarge", c, err)
	}
	atOnce := Chain{Hops: 20, Tries: 3, Cost: 10, Budget: 400, Fails: 5, Parallel: 3, Policy: Each}
	if _, err := Simulate(atOnce); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "with calls at once") || !strings.Contains(err.Error(), "smaller budget") {
		t.Errorf("Simulate(%+v): %v, want ErrTooLarge", atOnce, err)
	}
	c.Hops, c.Tries = 3, 3
	if _, err := repeat(t.Context(), c, 100, 1000); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "100 runs of it take too many steps together") {
		t.Errorf("%+v 100 times within 1000 events: %v, want ErrTooLarge", c, err)
	}
	if _, err := repeat(t.Context(), c, 100, 10_000); err != nil {
		t.Errorf("%+v 100 times within 10000 events: %v", c, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Repeat(gone, c, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("Repeat when it is interrupted: %v, want %v", err, context.Canceled)
	}
	// Deterministic, but hardly two calls are alike.
	odd := Chain{Hops: 20, Tries: 9, Cost: 7, Fails: Always, PerTry: 1009}
	for i := range odd.Hops {
		odd.PerHop = append(odd.PerHop, Hop{Work: int64(i % 4), Backoff: Backoff{Base: int64(37*i%101 + 1)}})
	}
	if r, err := Simulate(odd); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Simulate(%+v): %v, %v, want ErrTooLarge", odd, r, err)
	}
}
