package breaker

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Many goroutines at once, with a partner that falls ill and gets well: no more
// trial calls than permitted are ever under way, the changes form one chain,
// and nothing is held at the end.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	cfg := Config{
		SlidingWindowSize: 50, MinimumNumberOfCalls: 10, WaitDurationInOpenState: 100 * time.Microsecond,
		PermittedNumberOfCallsInHalfOpenState: 4, MaxProbeDuration: time.Hour,
	}
	b := newBreaker(t, cfg)
	var calls, trials atomic.Int64
	var mu sync.Mutex
	changes := map[uint64]Change{}
	report := func(c *Change) {
		if c != nil {
			mu.Lock()
			defer mu.Unlock()
			changes[c.Period] = *c
		}
	}
	one := func(rng *rand.Rand) {
		permit, change, err := b.Admit(time.Now())
		defer permit.Release()
		report(change)
		n := calls.Add(1)
		if err != nil {
			if !errors.Is(err, ErrOpen) && !errors.Is(err, ErrHalfOpen) {
				t.Errorf("Admit = %v", err)
			}
			return
		}
		trial := permit.Trial()
		if trial {
			if out := trials.Add(1); out > int64(cfg.PermittedNumberOfCallsInHalfOpenState) {
				t.Errorf("%d trial calls under way, %d permitted", out, cfg.PermittedNumberOfCallsInHalfOpenState)
			}
		}
		outcome := Success
		switch ill := n/5000%2 == 1; {
		case ill && rng.IntN(3) > 0:
			outcome = Failure
		case rng.IntN(20) == 0:
			outcome = Neutral
		}
		if trial {
			trials.Add(-1) // before the place is free for another
		}
		if rng.IntN(50) > 0 {
			report(permit.Record(time.Now(), outcome))
		}
	}
	var wg sync.WaitGroup
	for g := range uint64(200) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, g))
			for range 200 {
				one(rng)
				b.Snapshot()
			}
		})
	}
	wg.Wait()

	s := b.Snapshot()
	if s.Trials != 0 || s.Period != uint64(len(changes)) {
		t.Errorf("at the end %+v after %d changes, want no trial calls and as many changes", s, len(changes))
	}
	if len(changes) < 3 {
		t.Errorf("only %d changes: the partner fell ill for nothing", len(changes))
	}
	state := Closed
	for n := uint64(1); n <= s.Period; n++ {
		c := changes[n]
		if c.From != state || c.To == state {
			t.Fatalf("change %d is %v, want one from %v", n, &c, state)
		}
		state = c.To
	}
	if state != s.State {
		t.Errorf("the changes end in %v, the breaker in %v", state, s.State)
	}
}

func TestAdmitAndRecordAllocateNothing(t *testing.T) {
	b, now := newBreaker(t, Config{}), start()
	open := opened(t, Config{})
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"closed", func() { call(b, now, Success) }},
		{"open", func() { call(open, now, Success) }},
		{"snapshot", func() { b.Snapshot() }},
	} {
		if got := testing.AllocsPerRun(100, c.do); got != 0 {
			t.Errorf("%s: %v allocations, want 0", c.name, got)
		}
	}
}
