package budgetcaller

import (
	"context"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// The limit that fires is known 100 times of 100, on a quiet machine and with
// every core kept busy, and no attempt ends before it.
func TestTheLimitThatFiredIsKnown(t *testing.T) {
	// Not parallel: it keeps all cores busy, and counts all sockets of its port.
	const short, long = 200 * time.Millisecond, time.Second
	for _, tt := range []struct {
		name            string
		connect, budget time.Duration
		cancel          time.Duration
		class           Class
		limit           Limit
		least           time.Duration
	}{
		{"connect inside the budget", short, long, 0, ClassConnectTimeout, LimitConnect, short},
		{"budget inside the connect limit", long, short, 0, ClassBudgetExhausted, LimitBudget, short},
		{"both alike", short, short, 0, ClassBudgetExhausted, LimitBudget, short},
		{"canceled before both", patience, patience, short / 2, ClassCanceled, LimitNone, short / 2},
	} {
		for _, busy := range []bool{false, true} {
			name := tt.name + ", idle"
			if busy {
				name = tt.name + ", busy"
			}
			t.Run(name, func(t *testing.T) {
				if busy {
					defer keepBusy()()
				}
				holes := make([]netip.AddrPort, 10)
				for i := range holes {
					holes[i] = blackHole(t)
				}
				c := newCaller(t, Config{Limits: Limits{Connect: tt.connect}})
				records := make([]Record, 100)
				took, most := make([]time.Duration, len(records)), make([]time.Duration, len(records))
				var wg sync.WaitGroup
				for worker, hole := range holes {
					wg.Go(func() {
						for i := worker; i < len(records); i += len(holes) {
							began := time.Now()
							records[i], took[i] = callHole(t, c, hole, tt.budget, tt.cancel)
							most[i] = tt.least + late(began)
						}
					})
				}
				wg.Wait()
				for i, rec := range records {
					if rec.Class != tt.class || rec.Limit != tt.limit || rec.Phase != PhaseConnect || rec.Effect != EffectNone {
						t.Errorf("run %d: %v, limit %v, phase %v, effect %v after %v (%v); want %v, limit %v, phase connect, effect none",
							i, rec.Class, rec.Limit, rec.Phase, rec.Effect, rec.Elapsed, rec.Err, tt.class, tt.limit)
					}
					if took[i] < tt.least || rec.Elapsed > most[i] {
						t.Errorf("run %d: ended after %v, want from %v to %v", i, took[i], tt.least, most[i])
					}
					if tt.limit == LimitConnect && rec.Elapsed < tt.least {
						t.Errorf("run %d: cut after %v, before the limit of %v", i, rec.Elapsed, tt.least)
					}
				}
				// Whatever the machine does, it does not do it to all of them.
				if fastest := slices.Min(took); tt.cancel == 0 && fastest > tt.least+100*ms {
					t.Errorf("none ended before %v, want some by %v", fastest, tt.least+100*ms)
				}
				for _, hole := range holes {
					if n := synSent(t, hole.Port()); n != 0 {
						t.Errorf("%d sockets are still dialling", n)
					}
				}
			})
		}
	}
}

// callHole returns the record of a call into a black hole, and how long it took
// from the moment its budget began. It is canceled so long after the kernel says
// that it is dialling, if so told; nobody else may dial there.
func callHole(t *testing.T, c *Caller, hole netip.AddrPort, budget, cancelAfter time.Duration) (Record, time.Duration) {
	began := time.Now()
	ctx, cancel, err := Begin(t.Context(), budget)
	if err != nil {
		t.Error(err)
		return Record{}, 0
	}
	defer cancel()
	if cancelAfter > 0 {
		var wg sync.WaitGroup
		defer wg.Wait()
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		wg.Go(func() {
			for synSent(t, hole.Port()) == 0 && ctx.Err() == nil {
				time.Sleep(20 * ms)
			}
			time.Sleep(cancelAfter)
			stop()
		})
	}
	rec := do(t, ctx, c, "http://"+hole.String()+"/", nil, nil)
	return rec, time.Since(began)
}

// keepBusy occupies every core until it is told to stop.
func keepBusy() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for x := 0; ; x++ {
				if x%1000 == 0 {
					select {
					case <-done:
						return
					default:
					}
				}
			}
		})
	}
	return func() { close(done); wg.Wait() }
}

// One connect limit holds for all addresses of a name together.
func TestConnectLimitHoldsForAllAddresses(t *testing.T) {
	t.Parallel()
	hole := blackHole(t)
	const limit = 700 * time.Millisecond // longer than two staggers: all three are tried
	c := newCaller(t, Config{
		Limits: Limits{Connect: limit},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{hole.Addr(), hole.Addr(), hole.Addr()}, nil
		},
	})
	rec, _ := callHole(t, c, hole, 10*time.Second, 0)
	named := callOnce(t, c, "http://three.test:"+portOf(hole)+"/", 10*time.Second)
	for name, rec := range map[string]Record{"one literal": rec, "three addresses": named} {
		if rec.Class != ClassConnectTimeout || rec.Limit != LimitConnect || rec.Elapsed < limit || rec.Elapsed > limit+late(rec.Start) {
			t.Errorf("%s: %v, limit %v after %v (%v); want connect_timeout, limit connect after %v", name, rec.Class, rec.Limit, rec.Elapsed, rec.Err, limit)
		}
	}
	if n := synSent(t, hole.Port()); n != 0 {
		t.Errorf("%d sockets are still dialling", n)
	}
}
