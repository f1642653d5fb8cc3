package main

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"chaoslab/budgetcaller/breaker"
)

// breakers lets a call through and records how it ended, one in ten as a
// failure, so that nothing opens. Both breakers judge the last calls at 50
// percent and at least 20 of them; gobreaker has no window by number, so it is
// given its cheapest, which never forgets. "clock" reads the clock before and
// after the call, as gobreaker always does; otherwise ours is told one moment.
func breakers(m meter) error {
	var all []contestant
	for _, c := range []struct {
		name  string
		start func() (func(i int) error, error)
	}{
		{"gobreaker two-step", gobreakerTwoStep},
		{"gobreaker Execute", gobreakerExecute},
		{"ours", ours},
		{"ours with clock", oursWithClock},
	} {
		all = append(all, contestant{c.name + ", alone", 1, c.start}, contestant{c.name + ", 8 goroutines", 8, c.start})
	}
	return m.race(all)
}

func ours() (func(int) error, error) {
	br, err := breaker.New(breaker.Config{})
	now := time.Now()
	return func(i int) error {
		permit, _, err := br.Admit(now)
		defer permit.Release()
		if err != nil {
			return err
		}
		permit.Record(now, outcome(i))
		return nil
	}, err
}

func oursWithClock() (func(int) error, error) {
	br, err := breaker.New(breaker.Config{})
	return func(i int) error {
		permit, _, err := br.Admit(time.Now())
		defer permit.Release()
		if err != nil {
			return err
		}
		permit.Record(time.Now(), outcome(i))
		return nil
	}, err
}

func failed(i int) bool { return i%10 == 0 }

func outcome(i int) breaker.Outcome {
	if failed(i) {
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

func gobreakerTwoStep() (func(int) error, error) {
	br := gobreaker.NewTwoStepCircuitBreaker[struct{}](settings())
	return func(i int) error {
		done, err := br.Allow()
		if err != nil {
			return err
		}
		if failed(i) {
			done(errFailed)
		} else {
			done(nil)
		}
		return nil
	}, nil
}

func gobreakerExecute() (func(int) error, error) {
	br := gobreaker.NewCircuitBreaker[struct{}](settings())
	return func(i int) error {
		_, err := br.Execute(func() (struct{}, error) {
			if failed(i) {
				return struct{}{}, errFailed
			}
			return struct{}{}, nil
		})
		if err != nil && !failed(i) {
			return err
		}
		return nil
	}, nil
}
