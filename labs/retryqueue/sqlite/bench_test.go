package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// BenchmarkClaimComplete takes one job an iteration from claim to done: as two
// transactions, as RunOnce does, or as one, as Work does.
func BenchmarkClaimComplete(b *testing.B) {
	for _, normal := range []bool{true, false} {
		for _, joined := range []bool{false, true} {
			b.Run(fmt.Sprintf("normal=%v/joined=%v", normal, joined), func(b *testing.B) { claimComplete(b, normal, joined) })
		}
	}
}

func claimComplete(b *testing.B, normal, joined bool) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "q.db"), sqlite.Options{Create: true, Normal: normal})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var list []retryqueue.NewJob
	for i := range b.N {
		list = append(list, retryqueue.NewJob{ID: fmt.Sprint("job-", i), Payload: make([]byte, 200), Deadline: 1e12, MaxAttempts: 5})
	}
	for len(list) > 0 {
		n := min(500, len(list))
		if _, err := s.Add(ctx, 1, list[:n]); err != nil {
			b.Fatal(err)
		}
		list = list[n:]
	}
	b.ResetTimer()
	var settle []retryqueue.Settlement
	for i := range b.N {
		now := retryqueue.Millis(i + 2)
		taken, err := s.Take(ctx, retryqueue.Take{Now: now, Settle: settle, Claim: 1, LeaseUntil: now + 30000})
		if err != nil || len(taken.Jobs) != 1 || len(taken.Lost) > 0 {
			b.Fatalf("job %d: %+v, %v", i, taken, err)
		}
		settle = []retryqueue.Settlement{{ID: taken.Jobs[0].ID, Attempt: 1, State: retryqueue.Done, At: now}}
		if !joined {
			if taken, err := s.Take(ctx, retryqueue.Take{Now: now, Settle: settle}); err != nil || len(taken.Lost) > 0 {
				b.Fatalf("job %d: %+v, %v", i, taken, err)
			}
			settle = nil
		}
	}
}
