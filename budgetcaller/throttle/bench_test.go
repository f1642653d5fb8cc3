package throttle

import (
	"runtime"
	"testing"
	"time"
)

func BenchmarkCall(b *testing.B) {
	th, now := newThrottle(b, Config{}), start()
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		th.Call(now)
	}
}

func BenchmarkRetry(b *testing.B) {
	th, now := newThrottle(b, Config{}), start()
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		th.Retry(now)
	}
}

func BenchmarkCall8Goroutines(b *testing.B) {
	th, now := newThrottle(b, Config{}), start()
	b.ReportAllocs()
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			th.Call(now)
		}
	})
}
