package deadlinechain_test

import (
	"context"
	"fmt"

	"chaoslab/labs/deadlinechain"
)

// Three hops of three tries; the leaf is down.
func ExampleSimulate() {
	for _, policy := range deadlinechain.Policies() {
		r, err := deadlinechain.Simulate(deadlinechain.Chain{
			Hops: 3, Tries: 3, Cost: 10, Budget: 45,
			Fails: deadlinechain.Always, Policy: policy,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %v leaf calls, over at %v, the entry at %v, for nobody %v\n",
			policy, r.LeafCalls, r.Elapsed, r.Entry, r.OrphanedOverlap)
	}
	// Output:
	// none: 9 leaf calls, over at 90, the entry at 90, for nobody 0
	// each: 6 leaf calls, over at 60, the entry at 45, for nobody 15
	// pass: 4 leaf calls, over at 40, the entry at 40, for nobody 0
}

// What the leaf takes is random; half of all calls take more than 10.
func ExampleRepeat() {
	cost, err := deadlinechain.Lognormal(10, 40)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := deadlinechain.Repeat(context.Background(), deadlinechain.Chain{
		Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: 3,
		Policy: deadlinechain.Pass, RandomCost: cost, Seed: 1,
	}, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.OK > 0, s.OK < s.Runs, s.Elapsed.Max())
	// Output:
	// true true 45
}
