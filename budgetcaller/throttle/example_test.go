package throttle_test

import (
	"fmt"
	"time"

	"chaoslab/budgetcaller/throttle"
)

func Example() {
	th, err := throttle.New(throttle.Config{Share: 0.1, MinPerSecond: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	for range 30 { // all of them fail and would like to be tried again
		th.Call(now)
	}
	granted := 0
	for range 30 {
		if th.Retry(now) {
			granted++
		}
	}
	fmt.Println("granted at once:", granted)
	fmt.Println("a second later:", th.Retry(now.Add(time.Second)), th.Retry(now.Add(time.Second)))
	// Output:
	// granted at once: 4
	// a second later: true false
}
