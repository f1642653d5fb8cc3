package breaker_test

import (
	"fmt"
	"time"

	"chaoslab/budgetcaller/breaker"
)

func Example() {
	b, err := breaker.New(breaker.Config{
		SlidingWindowSize:                     20,
		MinimumNumberOfCalls:                  10,
		WaitDurationInOpenState:               30 * time.Second,
		PermittedNumberOfCallsInHalfOpenState: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	report := func(c *breaker.Change) {
		if c != nil {
			fmt.Println(c)
		}
	}
	call := func(now time.Time, outcome breaker.Outcome) error {
		permit, change, err := b.Admit(now)
		defer permit.Release()
		report(change)
		if err != nil {
			return err
		}
		report(permit.Record(now, outcome)) // here the call would be made
		return nil
	}

	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	for range 5 {
		_ = call(now, breaker.Success)
	}
	for range 5 {
		_ = call(now, breaker.Failure)
	}
	fmt.Println(call(now, breaker.Success))
	fmt.Println(call(now.Add(30*time.Second), breaker.Success))
	// Output:
	// closed -> open: failure_rate, 5 of 10 calls failed
	// breaker open
	// open -> half_open: wait_over
	// half_open -> closed: probes_passed, 0 of 1 calls failed
	// <nil>
}
