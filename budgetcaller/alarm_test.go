package budgetcaller

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// The line against a plain slice that is searched, over long random rows of
// what can be done to it.
func TestLineModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		var l line
		in := map[int32]int64{} // due, by slot
		who := map[int32]*attempt{}
		for step := range 500 {
			slots := make([]int32, 0, len(in))
			for s := range in {
				slots = append(slots, s)
			}
			slices.Sort(slots) // so that a seed gives one row
			switch op := random.IntN(4); {
			case op < 2 || len(slots) == 0:
				due, a := random.Int64N(100), new(attempt)
				s := l.add(a, due)
				if _, taken := in[s]; taken || s == 0 {
					t.Fatalf("seed %d, step %d: slot %d is given twice", seed, step, s)
				}
				in[s], who[s] = due, a
			case op == 2:
				s, due := slots[random.IntN(len(slots))], random.Int64N(100)
				l.advance(s, due)
				in[s] = min(in[s], due)
			default:
				s := slots[random.IntN(len(slots))]
				l.remove(s)
				delete(in, s)
			}
			first, at := l.first()
			want := int64(never)
			for _, due := range in {
				want = min(want, due)
			}
			if at != want || len(l.heap) != len(in) || (first == nil) != (len(in) == 0) {
				t.Fatalf("seed %d, step %d: first at %d of %d, want %d of %d", seed, step, at, len(l.heap), want, len(in))
			}
			if first != nil {
				if s := l.heap[0].slot; who[s] != first || in[s] != at {
					t.Fatalf("seed %d, step %d: slot %d holds another", seed, step, s)
				}
			}
		}
		if used := len(l.slots) - 1 - len(l.free); used != len(in) {
			t.Errorf("seed %d: %d slots in use for %d", seed, used, len(in))
		}
	}
}

// obedient waits as long as the request says, or until it is cut.
type obedient struct{}

func (obedient) RoundTrip(req *http.Request) (*http.Response, error) {
	wait, err := time.ParseDuration(req.Header.Get("Wait"))
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return stub{}.RoundTrip(req)
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// Attempts are used again and share alarms: many calls at once of every kind of
// end keep each to its own. None is cut before its limit, and none outlives it.
func TestAlarmsManyAtOnce(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{Stub: obedient{}})
	var wg sync.WaitGroup
	for n := range 400 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for range 10 {
				oneOfMany(t, c, random)
			}
		})
	}
	wg.Wait()
	for i := range c.alarms.each {
		l := &c.alarms.each[i]
		l.mu.Lock()
		if n := len(l.line.heap); n > 0 {
			t.Errorf("alarm %d still has %d waiting", i, n)
		}
		l.mu.Unlock()
	}
}

func oneOfMany(t *testing.T, c *Caller, random *rand.Rand) {
	wait, budget, want := "0s", time.Minute, ClassOK
	cancelAt := time.Duration(0)
	switch random.IntN(4) {
	case 0:
		wait, budget, want = "1m", time.Duration(2+random.IntN(30))*time.Millisecond, ClassBudgetExhausted
	case 1:
		wait, want, cancelAt = "1m", ClassCanceled, time.Duration(1+random.IntN(10))*time.Millisecond
	case 2:
		wait = "1ms"
	}
	began := time.Now()
	ctx, cancel, err := Begin(t.Context(), budget)
	if err != nil {
		t.Error(err)
		return
	}
	defer cancel()
	if cancelAt > 0 {
		defer time.AfterFunc(cancelAt, cancel).Stop()
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://price.test/", nil)
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Wait", wait)
	res, err := c.Run(ctx, req, nil)
	if err != nil {
		t.Error(err)
		return
	}
	took := time.Since(began)
	last := res.Last()
	if last.Class == ClassBelowFloor && want == ClassBudgetExhausted {
		return // this machine took its time
	}
	if last.Class != want {
		t.Errorf("wait %s, budget %v, cancel at %v: %v after %v, want %v", wait, budget, cancelAt, last.Class, last.Elapsed, want)
	}
	if want == ClassBudgetExhausted && took < budget {
		t.Errorf("budget %v: over after %v", budget, took)
	}
}
