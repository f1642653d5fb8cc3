package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

func main() {
	testing.Init()
	rounds := flag.Int("rounds", 10, "rounds, each with every contestant in turn; medians are printed")
	length := flag.Duration("time", 300*time.Millisecond, "how long a contestant runs in a round")
	flag.Parse()
	if *rounds < 1 || *length < 10*time.Millisecond {
		fmt.Fprintln(os.Stderr, "bench-budget: at least one round of 10ms")
		os.Exit(2)
	}
	if err := flag.Set("test.benchtime", length.String()); err != nil {
		fmt.Fprintln(os.Stderr, "bench-budget:", err)
		os.Exit(1)
	}
	for _, section := range []struct {
		name string
		run  func(rounds int) error
	}{
		{"A call on a stub transport: budget, limits, retry, breaker, both headers", stubCalls},
		{"Breaker: admit and record", breakers},
		{"Requests over loopback, 32 at once", loopback},
		{"Budgets that run out at once: how late they end", expiries},
	} {
		fmt.Printf("%s\n", section.name)
		if err := section.run(*rounds); err != nil {
			fmt.Fprintln(os.Stderr, "bench-budget:", err)
			os.Exit(1)
		}
		fmt.Println()
	}
}

// contestant is one of those that are measured side by side.
type contestant struct {
	name string
	run  func(*testing.B)
}

// race runs all in turn, round by round, so that a machine whose speed drifts
// is unfair to none, and prints medians. base is what the last column divides by.
func race(rounds int, base string, all []contestant) {
	ns := map[string][]float64{}
	allocs := map[string]int64{}
	for range rounds {
		for _, c := range all {
			r := testing.Benchmark(c.run)
			ns[c.name] = append(ns[c.name], float64(r.T.Nanoseconds())/float64(max(1, r.N)))
			allocs[c.name] = r.AllocsPerOp()
		}
	}
	fmt.Printf("  %-34s %12s %10s %14s\n", "", "ns/op", "allocs/op", "time / "+base)
	for _, c := range all {
		fmt.Printf("  %-34s %12.0f %10d %14.2f\n", c.name, median(ns[c.name]), allocs[c.name], median(ns[c.name])/median(ns[base]))
	}
}

func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile is by nearest rank.
func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}
