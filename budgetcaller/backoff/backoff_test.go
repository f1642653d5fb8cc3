package backoff

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		cfg, want Config
		err       string
	}{
		{"defaults", Config{}, Config{DefaultBase, DefaultCap, Full}, ""},
		{"the default cap gives way", Config{Base: 5 * time.Second}, Config{5 * time.Second, 5 * time.Second, Full}, ""},
		{"cap equal to base", Config{Base: 5 * ms, Cap: 5 * ms, Jitter: None}, Config{5 * ms, 5 * ms, None}, ""},
		{"negative base", Config{Base: -ms}, Config{}, "backoff: Base: -1ms is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"too small a base", Config{Base: 100}, Config{}, "backoff: Base: 100ns is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"negative cap", Config{Cap: -ms}, Config{}, "backoff: Cap: -1ms is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"endless cap", Config{Cap: math.MaxInt64}, Config{}, "backoff: Cap: 2562047h47m16.854775807s is out of range: whole milliseconds from 1ms to 8784h0m0s"},
		{"cap below base", Config{Base: 2 * ms, Cap: ms}, Config{}, "backoff: Cap: 1ms is below Base, 2ms"},
		{"unknown jitter", Config{Jitter: 3}, Config{}, "backoff: Jitter: jitter(3): one of full, equal, none"},
	} {
		p, err := New(c.cfg)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != c.err || err == nil && p.Config() != c.want {
			t.Errorf("%s: New(%+v) = %+v, %q, want %+v, %q", c.name, c.cfg, p.Config(), text, c.want, c.err)
		}
	}
}

func TestZeroPolicyHasTheDefaults(t *testing.T) {
	t.Parallel()
	want, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var zero Policy
	for attempt := -1; attempt < 10; attempt++ {
		a, b := NewChance(1, 2), NewChance(1, 2)
		if got, want := zero.Delay(attempt, &a), want.Delay(attempt, &b); got != want {
			t.Errorf("Policy{}.Delay(%d) = %v, want %v", attempt, got, want)
		}
	}
	if zero.Config() != want.Config() {
		t.Errorf("Policy{}.Config() = %+v, want %+v", zero.Config(), want.Config())
	}
}

func TestPolicyDelayStaysInItsWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		jitter      Jitter
		least, most float64 // of the window
	}{
		{Full, 0, 1}, {Equal, 0.5, 1}, {None, 1, 1},
	} {
		p, err := New(Config{Base: 100 * ms, Cap: 1000 * ms, Jitter: c.jitter})
		if err != nil {
			t.Fatal(err)
		}
		low, high := math.Inf(1), math.Inf(-1)
		for n := range uint64(2000) {
			chance := NewChance(7, n)
			for attempt := 1; attempt <= 6; attempt++ {
				w, d := p.Window(attempt), p.Delay(attempt, &chance)
				share := float64(d) / float64(w)
				low, high = min(low, share), max(high, share)
				if d%ms != 0 || share < c.least || share > c.most {
					t.Fatalf("%v: call %d, attempt %d: Delay = %v, want whole milliseconds from %v to %v of %v", c.jitter, n, attempt, d, c.least, c.most, w)
				}
			}
		}
		if low > c.least+0.01 || high < c.most-0.02 {
			t.Errorf("%v: delays were from %.3f to %.3f of the window, want all of %v to %v", c.jitter, low, high, c.least, c.most)
		}
		if got, want := p.Delay(3, nil), 400*ms; got != want {
			t.Errorf("%v: Delay(3, nil) = %v, want the window, %v", c.jitter, got, want)
		}
	}
}

// The kind of jitter must not change what later attempts draw.
func TestEveryJitterTakesOneDraw(t *testing.T) {
	t.Parallel()
	want := rand.New(rand.NewPCG(7, 9))
	want.Float64()
	next := want.Float64()
	for _, j := range []Jitter{Full, Equal, None} {
		p, err := New(Config{Jitter: j})
		if err != nil {
			t.Fatal(err)
		}
		chance := NewChance(7, 9)
		p.Delay(1, &chance)
		if got := chance.Float64(); got != next {
			t.Errorf("%v: after one Delay the next draw is %v, want %v", j, got, next)
		}
	}
}

func TestChanceDrawsAsMathRand(t *testing.T) {
	t.Parallel()
	for n := range uint64(50) {
		chance, want := NewChance(42, n), rand.New(rand.NewPCG(42, n))
		for i := range 50 {
			if got, want := chance.Float64(), want.Float64(); got != want {
				t.Fatalf("NewChance(42, %d), draw %d: got %v, want %v", n, i, got, want)
			}
		}
	}
}

func TestJitterText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word string
		want Jitter
		ok   bool
	}{
		{"full", Full, true},
		{"equal", Equal, true},
		{"none", None, true},
		{"", 0, false},
		{"Full", 0, false},
		{"jitter(3)", 0, false},
	} {
		var got Jitter
		err := got.UnmarshalText([]byte(c.word))
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("UnmarshalText(%q) = %v, %v, want %v, ok %v", c.word, got, err, c.want, c.ok)
		}
		if text, err := got.MarshalText(); c.ok && (string(text) != c.word || err != nil) {
			t.Errorf("%v.MarshalText() = %q, %v, want %q", got, text, err, c.word)
		}
	}
}

func TestDelayAllocatesNothing(t *testing.T) {
	var p Policy
	if got := testing.AllocsPerRun(100, func() {
		chance := NewChance(1, 2)
		p.Delay(3, &chance)
	}); got != 0 {
		t.Errorf("NewChance and Delay: %v allocations, want 0", got)
	}
}

func BenchmarkDelay(b *testing.B) {
	var p Policy
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		chance := NewChance(1, n)
		p.Delay(3, &chance)
	}
}
