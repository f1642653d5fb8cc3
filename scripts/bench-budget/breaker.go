package main

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/sony/gobreaker/v2"

	"chaoslab/budgetcaller/breaker"
)

// breakers lets a call through and records how it ended, one in ten as a
// failure, so that nothing opens. Both breakers judge the last calls at 50
// percent and at least 20 of them; gobreaker has no window by number, so it is
// given its cheapest, which never forgets. "clock" reads the clock before and
// after the call, as gobreaker always does; otherwise ours is told one moment.
func breakers(rounds int) error {
	var all []contestant
	for _, c := range []struct {
		name string
		one  func(testing.TB) func(failed bool)
	}{
		{"gobreaker two-step", gobreakerTwoStep},
		{"gobreaker Execute", gobreakerExecute},
		{"ours", ours},
		{"ours with clock", oursWithClock},
	} {
		all = append(all, contestant{c.name + ", alone", func(b *testing.B) {
			one := c.one(b)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				one(i%10 == 0)
			}
		}}, contestant{c.name + ", 8 goroutines", func(b *testing.B) {
			one := c.one(b)
			b.ReportAllocs()
			b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					one(i%10 == 0)
				}
			})
		}})
	}
	race(rounds, all[0].name, all)
	return nil
}

func ours(t testing.TB) func(bool) {
	br, now := newBreaker(t), time.Now()
	return func(failed bool) {
		permit, _, err := br.Admit(now)
		defer permit.Release()
		if err != nil {
			t.Error(err)
			return
		}
		permit.Record(now, outcome(failed))
	}
}

func oursWithClock(t testing.TB) func(bool) {
	br := newBreaker(t)
	return func(failed bool) {
		permit, _, err := br.Admit(time.Now())
		defer permit.Release()
		if err != nil {
			t.Error(err)
			return
		}
		permit.Record(time.Now(), outcome(failed))
	}
}

func newBreaker(t testing.TB) *breaker.Breaker {
	br, err := breaker.New(breaker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return br
}

func outcome(failed bool) breaker.Outcome {
	if failed {
		return breaker.Failure
	}
	return breaker.Success
}

var errFailed = errors.New("failed")

func settings() gobreaker.Settings {
	return gobreaker.Settings{
		MaxRequests: 3,
		Timeout:     30 * time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.Requests >= 20 && float64(c.TotalFailures) >= 0.5*float64(c.Requests)
		},
	}
}

func gobreakerTwoStep(t testing.TB) func(bool) {
	br := gobreaker.NewTwoStepCircuitBreaker[struct{}](settings())
	return func(failed bool) {
		done, err := br.Allow()
		if err != nil {
			t.Error(err)
			return
		}
		if failed {
			done(errFailed)
		} else {
			done(nil)
		}
	}
}

func gobreakerExecute(t testing.TB) func(bool) {
	br := gobreaker.NewCircuitBreaker[struct{}](settings())
	return func(failed bool) {
		_, err := br.Execute(func() (struct{}, error) {
			if failed {
				return struct{}{}, errFailed
			}
			return struct{}{}, nil
		})
		if err != nil && !failed {
			t.Error(err)
		}
	}
}
