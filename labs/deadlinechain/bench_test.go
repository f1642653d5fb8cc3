package deadlinechain

import (
	"fmt"
	"testing"
)

// The plain chain, whatever is asked of it.
func BenchmarkSimulate(b *testing.B) {
	for _, hops := range []int{3, 8, 16, 32, 64} {
		for _, policy := range Policies() {
			b.Run(fmt.Sprintf("hops=%d/%s", hops, policy), func(b *testing.B) {
				c := Chain{Hops: hops, Tries: 10, Cost: 10, Budget: 100_000, Fails: 5000, Policy: policy}
				for b.Loop() {
					if _, err := Simulate(c); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// With the options that can still be worked out.
func BenchmarkSimulateOptions(b *testing.B) {
	for _, hops := range []int{3, 64} {
		for _, policy := range Policies() {
			b.Run(fmt.Sprintf("hops=%d/%s", hops, policy), func(b *testing.B) {
				c := Chain{
					Hops: hops, Tries: 10, Cost: 10, Budget: 100_000, Fails: Always, Policy: policy,
					Backoff: Backoff{Base: 7, Cap: 1000}, Work: 3, Parallel: 2,
				}
				for b.Loop() {
					if _, err := Simulate(c); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Event by event: the figure to look at is ns/event.
func BenchmarkPlay(b *testing.B) {
	draw, err := Lognormal(10, 50)
	if err != nil {
		b.Fatal(err)
	}
	p, err := newPlan(Chain{Hops: 7, Tries: 6, Cost: 10, Budget: 1, Fails: Always, RandomCost: draw})
	if err != nil {
		b.Fatal(err)
	}
	events := 0
	for b.Loop() {
		play := newPlay(p, 1)
		if _, err := play.whole(); err != nil {
			b.Fatal(err)
		}
		events += maxEvents - play.room
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
