package storm_test

import (
	"context"
	"fmt"
	"time"

	"chaoslab/labs/storm"
)

// Each call that fails arrives as often as it may be tried.
func ExampleRun() {
	ctx := context.Background()
	own, err := storm.StartOwn(storm.OwnConfig{Healthy: "status", Failing: "status"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer own.Close(ctx) //nolint:errcheck // it ends with the process at the latest
	report, err := storm.Run(ctx, storm.Config{
		Instances: 2, Rate: 10, Attempts: 3, Partner: own, Attempt: 10 * time.Second,
		Healthy: 100 * time.Millisecond, Failure: 100 * time.Millisecond, Recovery: 100 * time.Millisecond,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Calls.Failed, "calls,", report.Partner.Received, "requests")
	// Output: 6 calls, 18 requests
}

func ExampleThroughput() {
	fmt.Println(storm.Throughput(50, 200*time.Millisecond, time.Minute))
	fmt.Println(storm.Throughput(50, 30*time.Second, 500*time.Millisecond))
	// Output:
	// 250
	// 100
}
