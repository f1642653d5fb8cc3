package throttle

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// start is the moment at which all tests begin.
func start() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }

func newThrottle(t testing.TB, cfg Config) *Throttle {
	t.Helper()
	th, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func calls(th *Throttle, n int, now time.Time) {
	for range n {
		th.Call(now)
	}
}

// retries asks n times and returns how often the answer was yes.
func retries(th *Throttle, n int, now time.Time) (granted int) {
	for range n {
		if th.Retry(now) {
			granted++
		}
	}
	return granted
}

func TestRetriesAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		cfg         Config
		calls, want int
	}{
		{"defaults, no calls: the reserve", Config{}, 0, 10},
		{"defaults, 100 calls: a tenth and the reserve", Config{}, 100, 20},
		{"share alone", Config{MinPerSecond: None}, 100, 10},
		{"share alone, too few calls", Config{MinPerSecond: None}, 9, 0},
		{"share alone, just enough calls", Config{MinPerSecond: None}, 10, 1},
		{"a share that a float64 rounds up", Config{MinPerSecond: None}, 30, 3},
		{"a share that a float64 rounds down", Config{Share: 0.29, MinPerSecond: None}, 100, 29},
		{"a retry a call", Config{Share: 1, MinPerSecond: None}, 100, 100},
		{"reserve alone", Config{Share: None, MinPerSecond: 3}, 100, 3},
		{"less than one a second", Config{Share: None, MinPerSecond: 0.1}, 100, 1},
	} {
		th := newThrottle(t, c.cfg)
		calls(th, c.calls, start())
		if got := retries(th, 1000, start()); got != c.want {
			t.Errorf("%s: %+v, %d calls: %d retries, want %d", c.name, c.cfg, c.calls, got, c.want)
		}
	}
}

func TestTheReserveIsPaidOutByTheSecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		perSecond   float64
		every       time.Duration
		asked       int // how often at once
		stretch     time.Duration
		least, most int
	}{
		{"asked all the time", 10, 10 * time.Millisecond, 5, 10 * time.Second, 100, 110},
		{"asked once a second", 10, time.Second, 100, 10 * time.Second, 100, 110},
		{"one in ten seconds", 0.1, time.Second, 5, time.Minute, 6, 7},
	} {
		th := newThrottle(t, Config{Share: None, MinPerSecond: c.perSecond})
		got := 0
		for at := time.Duration(0); at < c.stretch; at += c.every {
			got += retries(th, c.asked, start().Add(at))
		}
		if got < c.least || got > c.most {
			t.Errorf("%s: %d retries in %v at %v a second, want %d to %d", c.name, got, c.stretch, c.perSecond, c.least, c.most)
		}
	}
}

func TestTheWindowForgets(t *testing.T) {
	t.Parallel()
	const w = DefaultWindow
	for _, c := range []struct {
		name  string
		after time.Duration
		want  int
	}{
		{"at once", 0, 10},
		{"well within it", w / 2, 10},
		{"its last tenth", w - w/10 - 1, 10},
		{"past it", w, 0},
		{"long past it", 1000 * w, 0},
	} {
		th := newThrottle(t, Config{MinPerSecond: None})
		calls(th, 100, start())
		if got := retries(th, 1000, start().Add(c.after)); got != c.want {
			t.Errorf("%s: %d retries %v after 100 calls, want %d", c.name, got, c.after, c.want)
		}
	}

	// Used retries are forgotten with the calls that paid for them, not before.
	th := newThrottle(t, Config{MinPerSecond: None})
	for i := range 50 {
		now := start().Add(time.Duration(i) * time.Second)
		calls(th, 100, now)
		if got := retries(th, 1000, now); got != 10 {
			t.Errorf("second %d: %d retries for 100 calls a second, want 10", i, got)
		}
	}
	if s := th.Snapshot(start().Add(49 * time.Second)); s.Calls != 1000 || s.Paid != 100 || s.Granted != 500 || s.Refused != 50*990 {
		t.Errorf("after 50 s: %+v, want 1000 calls and 100 retries in the window", s)
	}
}

func TestClockSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		step time.Duration
		// How many retries are granted at the moment of the step and, after that,
		// in each of five seconds without a call.
		atOnce, later int
	}{
		{"none", 0, 0, 10},
		{"a minute back", -time.Minute, 0, 10},
		{"ten years back", -10 * 365 * 24 * time.Hour, 0, 10},
		{"a second on", time.Second, 10, 10},
		{"an hour on", time.Hour, 10, 10},
		{"ten years on", 10 * 365 * 24 * time.Hour, 10, 10},
	} {
		th := newThrottle(t, Config{})
		calls(th, 100, start())
		retries(th, 1000, start())
		now := start().Add(c.step)
		if got := retries(th, 1000, now); got != c.atOnce {
			t.Errorf("%s: step %v: %d retries at once, want %d", c.name, c.step, got, c.atOnce)
		}
		for i := range 5 {
			now = now.Add(time.Second)
			if got := retries(th, 1000, now); got != c.later {
				t.Errorf("%s: step %v: %d retries in second %d, want %d", c.name, c.step, got, i+1, c.later)
			}
		}
		calls(th, 100, now)
		if got := retries(th, 1000, now); got != 10 {
			t.Errorf("%s: step %v: %d retries for 100 new calls, want 10", c.name, c.step, got)
		}
	}
}

// Callers read the clock before they ask, so a moment just past is no step.
func TestCallersMayDifferAboutThePresent(t *testing.T) {
	t.Parallel()
	th := newThrottle(t, Config{})
	calls(th, 50, start())
	calls(th, 50, start().Add(-clockSlack))
	if got := retries(th, 1000, start()) + retries(th, 1000, start().Add(-clockSlack)); got != 20 {
		t.Errorf("100 calls that differ by %v: %d retries, want 20", clockSlack, got)
	}
}

// 20 instances, 100 calls a second each, 5 attempts, all failing: 10,000
// requests a second without a throttle, 2,400 with the default one.
func TestTwentyInstancesThatAllFail(t *testing.T) {
	t.Parallel()
	const instances, perSecond, attempts, seconds = 20, 100, 5, 60
	plain, throttled := 0, 0
	for range instances {
		th := newThrottle(t, Config{})
		for i := range seconds * perSecond {
			now := start().Add(time.Duration(i) * time.Second / perSecond)
			th.Call(now)
			plain, throttled = plain+attempts, throttled+1
			throttled += retries(th, attempts-1, now)
		}
	}
	if got := plain / seconds; got != 10_000 {
		t.Errorf("without a throttle %d requests a second, want 10000", got)
	}
	// The reserve that is there at the start is spent once.
	if got := throttled / seconds; got < 2390 || got > 2410 {
		t.Errorf("with a throttle %d requests a second, want 2400", got)
	}
}

// In any stretch of time, however calls and retries fall: never more than the
// share of the calls that are remembered and the reserve together.
func TestNeverMoreThanAllowed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cfg := Config{Share: 0.05 + 0.9*rng.Float64(), MinPerSecond: 0.5 + 20*rng.Float64(), Window: time.Duration(1+rng.IntN(20)) * time.Second}
		th := newThrottle(t, cfg)
		var called, granted []time.Time
		now := start()
		for range 3000 {
			now = now.Add(time.Duration(rng.ExpFloat64() * float64(20*time.Millisecond)))
			if rng.IntN(200) == 0 {
				now = now.Add(time.Duration(rng.Int64N(int64(2 * cfg.Window))))
			}
			if rng.IntN(3) == 0 {
				th.Call(now)
				called = append(called, now)
			} else if th.Retry(now) {
				granted = append(granted, now)
			}
		}
		for _, end := range granted {
			stretch := cfg.Window - cfg.Window/parts
			got := within(granted, end.Add(-stretch), end)
			paid := cfg.Share * float64(within(called, end.Add(-cfg.Window), end))
			reserve := max(1, cfg.MinPerSecond) + stretch.Seconds()*cfg.MinPerSecond
			if most := paid + reserve + 1e-6; float64(got) > most {
				t.Fatalf("seed %d, %+v: %d retries in the %v up to %v, want at most %.1f", seed, cfg, got, stretch, end, most)
			}
		}
	}
}

// within returns how many of the times, which are in order, are from from to to.
func within(times []time.Time, from, to time.Time) int {
	i, _ := slices.BinarySearchFunc(times, from, time.Time.Compare)
	j, _ := slices.BinarySearchFunc(times, to.Add(1), time.Time.Compare)
	return j - i
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	th := newThrottle(t, Config{})
	var granted atomic.Int64
	var calling, retrying sync.WaitGroup
	for range 100 {
		calling.Go(func() { calls(th, 100, start()) })
	}
	calling.Wait()
	for range 100 {
		retrying.Go(func() { granted.Add(int64(retries(th, 100, start()))) })
	}
	retrying.Wait()
	if got := granted.Load(); got != 1010 {
		t.Errorf("10000 calls and as many retries at once: %d granted, want 1010", got)
	}
	if s := th.Snapshot(start()); s != (Snapshot{10000, 1000, 0, 1010, 8990}) {
		t.Errorf("Snapshot = %+v, want 10000 calls, 1000 paid, 1010 granted, 8990 refused", s)
	}
}

func TestNilAndZeroAllowEveryRetry(t *testing.T) {
	t.Parallel()
	for name, th := range map[string]*Throttle{"nil": nil, "zero": {}} {
		th.Call(start())
		if got := retries(th, 1000, start()); got != 1000 {
			t.Errorf("%s: %d of 1000 retries granted, want all", name, got)
		}
		if s, cfg := th.Snapshot(start()), th.Config(); s != (Snapshot{}) || cfg != (Config{}) {
			t.Errorf("%s: %+v, %+v, want nothing", name, s, cfg)
		}
	}
}

func TestCallAndRetryAllocateNothing(t *testing.T) {
	th, now := newThrottle(t, Config{}), start()
	if got := testing.AllocsPerRun(100, func() {
		now = now.Add(100 * time.Millisecond)
		th.Call(now)
		th.Retry(now)
		th.Snapshot(now)
	}); got != 0 {
		t.Errorf("Call, Retry and Snapshot: %v allocations, want 0", got)
	}
}
