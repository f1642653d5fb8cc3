package backoff_test

import (
	"fmt"
	"time"

	"chaoslab/budgetcaller/backoff"
)

func Example() {
	policy, err := backoff.New(backoff.Config{Base: 100 * time.Millisecond, Cap: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	chance := backoff.NewChance(1, 1043) // the seed of this process, the number of this call
	for attempt := 1; attempt <= 5; attempt++ {
		fmt.Println(attempt, policy.Window(attempt), policy.Delay(attempt, &chance))
	}
	// Output:
	// 1 100ms 8ms
	// 2 200ms 55ms
	// 3 400ms 255ms
	// 4 800ms 121ms
	// 5 1s 655ms
}

func ExampleDelay() {
	fmt.Println(backoff.Delay(100*time.Millisecond, time.Second, 1, 0.5))
	fmt.Println(backoff.Delay(100*time.Millisecond, time.Second, 2, 0.5))
	fmt.Println(backoff.Delay(100*time.Millisecond, 250*time.Millisecond, 3, 0.5))
	fmt.Println(backoff.Delay(100*time.Millisecond, time.Second, 0, 0.5))
	// Output:
	// 50ms <nil>
	// 100ms <nil>
	// 125ms <nil>
	// 0s backoff: attempt: 0 is out of range: from 1
}

func ExampleParseRetryAfter() {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	for _, value := range []string{"120", "Sun, 01 Mar 2026 12:01:00 GMT", "1.5", "-5", ""} {
		wait, ok := backoff.ParseRetryAfter(value, now)
		fmt.Printf("%q %v %v\n", value, wait, ok)
	}
	// Output:
	// "120" 2m0s true
	// "Sun, 01 Mar 2026 12:01:00 GMT" 1m0s true
	// "1.5" 0s false
	// "-5" 0s false
	// "" 0s false
}
