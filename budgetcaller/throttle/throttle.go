package throttle

import (
	"sync"
	"time"
)

// Throttle counts the calls to one partner and says whether one more retry is
// allowed. It is safe for concurrent use and allocates nothing. A nil or zero
// Throttle allows every retry.
//
// The present moment is what callers say it is. It may differ a little between
// them; if it steps back, counting starts afresh, and what is allowed each
// second goes on.
type Throttle struct {
	cfg   Config
	slice time.Duration // of the window
	burst float64       // the most that reserve holds

	mu      sync.Mutex
	slices  [parts]counts
	current int       // the slice that counts now
	begun   time.Time // when it began to; zero: nothing was counted yet
	sum     counts    // of all slices
	reserve float64   // retries that MinPerSecond allows now
	filled  time.Time // up to when reserve was filled
	granted uint64
	refused uint64
}

// parts is into how many slices the window is cut. A slice is forgotten as a
// whole.
const parts = 10

// counts are the calls, and the retries that they paid for.
type counts struct{ calls, retries int64 }

// clockSlack is by how much callers at the same time may differ about the
// present without it being taken for a clock that was set back.
const clockSlack = time.Second

// New returns a Throttle, or an error that names the field of cfg that is out of
// range.
func New(cfg Config) (*Throttle, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Throttle{cfg: cfg, slice: cfg.Window / parts}
	if cfg.MinPerSecond != None {
		t.burst = max(1, cfg.MinPerSecond)
		t.reserve = t.burst
	}
	return t, nil
}

// Call counts one call, at its first attempt.
func (t *Throttle) Call(now time.Time) {
	if t.unlimited() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slide(now)
	t.slices[t.current].calls++
	t.sum.calls++
}

// Retry asks for one retry, and counts it if it is allowed. It should be the
// last question before the retry is made: a retry that was allowed and is then
// not made is used up.
func (t *Throttle) Retry(now time.Time) bool {
	if t.unlimited() {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slide(now)
	t.fill(now)
	// The share of 30 calls at 0.1 is three, however a float64 rounds it.
	const rounding = 1e-9
	switch {
	case float64(t.sum.retries+1) <= t.cfg.Share*float64(t.sum.calls)+rounding:
		t.slices[t.current].retries++
		t.sum.retries++
	case t.reserve >= 1-rounding:
		t.reserve--
	default:
		t.refused++
		return false
	}
	t.granted++
	return true
}

// Snapshot is what a Throttle looked like at one moment.
type Snapshot struct {
	// Calls are those in the window, and Paid the retries that they paid for.
	Calls, Paid int64
	// Reserve is how many retries MinPerSecond allows just now.
	Reserve float64
	// Granted and Refused are how often Retry said yes and no, in all.
	Granted, Refused uint64
}

// Snapshot returns what the throttle looks like now; the zero Snapshot for a nil
// or zero Throttle.
func (t *Throttle) Snapshot(now time.Time) Snapshot {
	if t.unlimited() {
		return Snapshot{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slide(now)
	t.fill(now)
	return Snapshot{t.sum.calls, t.sum.retries, t.reserve, t.granted, t.refused}
}

// Config returns what the throttle was made of, defaults filled in; the zero
// Config for a nil or zero Throttle.
func (t *Throttle) Config() Config {
	if t == nil {
		return Config{}
	}
	return t.cfg
}

func (t *Throttle) unlimited() bool { return t == nil || t.cfg.Window == 0 }

// slide forgets what has left the window. t.mu is held.
func (t *Throttle) slide(now time.Time) {
	since := now.Sub(t.begun)
	switch {
	case since < -clockSlack, since >= t.cfg.Window: // the first time too: the zero time is long ago
		t.slices, t.sum, t.begun = [parts]counts{}, counts{}, now
	case since >= t.slice:
		steps := since / t.slice
		t.begun = t.begun.Add(steps * t.slice)
		for ; steps > 0; steps-- {
			t.current = (t.current + 1) % parts
			old := &t.slices[t.current]
			t.sum.calls -= old.calls
			t.sum.retries -= old.retries
			*old = counts{}
		}
	}
}

// fill adds to the reserve what the time since the last filling allows. t.mu is
// held.
func (t *Throttle) fill(now time.Time) {
	since := now.Sub(t.filled)
	if since > 0 && t.burst > 0 {
		t.reserve = min(t.burst, t.reserve+since.Seconds()*t.cfg.MinPerSecond)
	}
	if since > 0 || since < -clockSlack {
		t.filled = now
	}
}
