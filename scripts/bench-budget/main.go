package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 10, "rounds, each with every contestant in turn; medians are printed")
	length := flag.Duration("time", 300*time.Millisecond, "how long a contestant runs in a round")
	flag.Parse()
	if *rounds < 1 || *rounds > 1000 || *length < 10*time.Millisecond || *length > time.Minute {
		fmt.Fprintln(os.Stderr, "bench-budget: -rounds from 1 to 1000, -time from 10ms to 1m")
		os.Exit(2)
	}
	m := meter{rounds: *rounds, length: *length}
	for _, section := range []struct {
		name string
		run  func(meter) error
	}{
		{"A call on a stub transport: budget, limits, retry, breaker, both headers", stubCalls},
		{"Breaker: admit and record", breakers},
		{"Requests over loopback, 32 at once", loopback},
		{"Budgets that run out at once: by how much they end late", expiries},
	} {
		fmt.Println(section.name)
		if err := section.run(m); err != nil {
			fmt.Fprintln(os.Stderr, "bench-budget:", err)
			os.Exit(1)
		}
		fmt.Println()
	}
}
