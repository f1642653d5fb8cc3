package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
)

// BenchmarkClaimComplete takes one job an iteration from claim to done, as Work
// does: the settle of one and the claim of the next are one transaction. The
// server does not wait for the disk here.
func BenchmarkClaimComplete(b *testing.B) {
	for _, c := range []struct{ workers, batch int }{{1, 1}, {4, 1}, {4, 16}} {
		b.Run(fmt.Sprintf("workers=%d/batch=%d", c.workers, c.batch), func(b *testing.B) { claimComplete(b, c.workers, c.batch) })
	}
}

func claimComplete(b *testing.B, workers, batch int) {
	ctx := b.Context()
	s, err := postgres.Open(ctx, shared.URL(b), postgres.Options{Create: true, Schema: newSchema()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for n := 0; n < b.N; n += 1000 {
		var list []retryqueue.NewJob
		for i := n; i < min(n+1000, b.N); i++ {
			list = append(list, retryqueue.NewJob{ID: fmt.Sprintf("job-%09d", i), Payload: make([]byte, 200), Deadline: 1e12, MaxAttempts: 5})
		}
		if _, err := s.Add(ctx, 1, list); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var settle []retryqueue.Settlement
			for {
				taken, err := s.Take(ctx, retryqueue.Take{Now: 2, Settle: settle, Claim: batch, LeaseUntil: 30000})
				if err != nil || len(taken.Lost) > 0 {
					b.Errorf("%+v, %v", taken, err)
					return
				}
				if len(taken.Jobs) == 0 {
					return
				}
				settle = settle[:0]
				for _, j := range taken.Jobs {
					settle = append(settle, retryqueue.Settlement{ID: j.ID, Attempt: 1, State: retryqueue.Done, At: 2})
				}
			}
		})
	}
	wg.Wait()
}
