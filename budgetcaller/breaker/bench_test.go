package breaker

import (
	"runtime"
	"testing"
	"time"
)

// Every tenth call fails: the window keeps changing and nothing opens.
func outcomeOf(i int) Outcome {
	if i%10 == 0 {
		return Failure
	}
	return Success
}

func BenchmarkAdmitRecord(b *testing.B) {
	br, now := newBreaker(b, Config{}), time.Unix(1772366400, 0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		permit, _, err := br.Admit(now)
		if err != nil {
			b.Fatal(err)
		}
		permit.Record(now, outcomeOf(i))
	}
}

// With the deferred Release that callers need, and the clock that they read.
func BenchmarkAdmitRecordAsUsed(b *testing.B) {
	br := newBreaker(b, Config{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		func() {
			permit, _, err := br.Admit(time.Now())
			defer permit.Release()
			if err != nil {
				b.Fatal(err)
			}
			permit.Record(time.Now(), outcomeOf(i))
		}()
	}
}

func BenchmarkAdmitRecord8Goroutines(b *testing.B) {
	br, now := newBreaker(b, Config{}), time.Unix(1772366400, 0)
	b.ReportAllocs()
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			permit, _, err := br.Admit(now)
			if err != nil {
				b.Error(err)
				return
			}
			permit.Record(now, outcomeOf(i))
		}
	})
}

func BenchmarkRefused8Goroutines(b *testing.B) {
	br, now := newBreaker(b, Config{MinimumNumberOfCalls: 1}), time.Unix(1772366400, 0)
	permit, _, _ := br.Admit(now)
	permit.Record(now, Failure)
	b.ReportAllocs()
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := br.Admit(now); err != ErrOpen {
				b.Errorf("Admit = %v, want ErrOpen", err)
				return
			}
		}
	})
}
