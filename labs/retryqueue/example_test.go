package retryqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// A job whose first attempt fails is put back, and done by the second. The clock
// is the example's own.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "retryqueue-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "queue.db"), sqlite.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	now := retryqueue.Millis(1_000_000)
	queue, err := retryqueue.New(retryqueue.Config{
		Store: store,
		Clock: func() retryqueue.Millis { return now },
		Send: func(_ context.Context, job retryqueue.Job) error {
			if job.Attempts == 1 {
				return retryqueue.Retry(errors.New("the partner is down"), 0)
			}
			return nil
		},
		Backoff: retryqueue.Backoff{Base: time.Second, Jitter: func(string, int) float64 { return 0.5 }},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := queue.Add(ctx, retryqueue.NewJob{ID: "order-17", Deadline: now + 60_000, MaxAttempts: 5}); err != nil {
		log.Fatal(err)
	}
	for range 3 {
		report, err := queue.RunOnce(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v, attempt %d %q\n", report.Outcome, report.Job.Attempts, report.Job.LastError)
		now = now.Add(500 * time.Millisecond)
	}
	// Output:
	// put_back, attempt 1 "the partner is down"
	// done, attempt 2 ""
	// idle, attempt 0 ""
}
