package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 10, "rounds, each with every contestant in turn; medians are printed")
	only := flag.String("only", "", "run only this one of: stub, breaker, loopback, expiry")
	length := flag.Duration("time", 300*time.Millisecond, "how long a contestant runs in a round")
	flag.Parse()
	if *rounds < 1 || *rounds > 1000 || *length < 10*time.Millisecond || *length > time.Minute {
		fmt.Fprintln(os.Stderr, "bench-budget: -rounds from 1 to 1000, -time from 10ms to 1m")
		os.Exit(2)
	}
	m := meter{rounds: *rounds, length: *length}
	ran := false
	for _, section := range []struct {
		word, name string
		run        func(meter) error
	}{
		{"stub", "A call on a stub transport: budget, limits, retry, breaker, both headers", stubCalls},
		{"breaker", "Breaker: admit and record", breakers},
		{"loopback", "Requests over loopback, 32 at once", loopback},
		{"expiry", "Budgets that run out at once: by how much they end late", expiries},
	} {
		if *only != "" && *only != section.word {
			continue
		}
		ran = true
		fmt.Println(section.name)
		if err := section.run(m); err != nil {
			fmt.Fprintln(os.Stderr, "bench-budget:", err)
			os.Exit(1)
		}
		fmt.Println()
	}
	if !ran {
		fmt.Fprintf(os.Stderr, "bench-budget: -only %s: one of stub, breaker, loopback, expiry\n", *only)
		os.Exit(2)
	}
}
