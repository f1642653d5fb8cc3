package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// bench is one run of the command.
type bench struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the command
	rounds  int
	scale   int // jobs a round, in percent of the usual
	large   int // jobs in a store that is called large
	dir     string
	section string // empty: all
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "share" { // a process of the section on sharing
		if err := shareWorker(context.Background(), os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "bench-queue:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{ctx: ctx}
	flag.IntVar(&b.rounds, "rounds", 5, "rounds, each with every contestant in turn; medians are printed")
	flag.IntVar(&b.scale, "scale", 100, "jobs a round, in percent")
	flag.IntVar(&b.large, "large", 1_000_000, "jobs in a large store")
	flag.StringVar(&b.section, "only", "", "sqlite, ahead, share, postgres or stats; empty: all")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-queue:", err)
		os.Exit(1)
	}
}

func (b *bench) run() error {
	if b.rounds < 1 || b.scale < 1 || b.large < 1 {
		return fmt.Errorf("-rounds, -scale, -large: at least 1")
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "bench-queue-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	for _, s := range []struct {
		name, title string
		run         func() error
	}{
		{"sqlite", "SQLite, one worker: claim and complete, 200 bytes of payload", b.sqlite},
		{"ahead", "SQLite, one worker, synchronous=NORMAL: beside many other jobs", b.ahead},
		{"share", "SQLite, synchronous=FULL: two processes on one file", b.share},
		{"postgres", "PostgreSQL, every commit on disk: claim and complete", b.postgres},
		{"stats", "Stats of a large store", b.stats},
	} {
		if b.section != "" && b.section != s.name {
			continue
		}
		fmt.Println(s.title)
		if err := s.run(); err != nil {
			return err
		}
		fmt.Println()
	}
	return nil
}

// file returns a path that was not used before.
func (b *bench) file() string {
	return filepath.Join(b.dir, strconv.FormatInt(time.Now().UnixNano(), 36)+".db")
}

// jobs is how many jobs a round of usually n has.
func (b *bench) jobs(n int) int { return max(100, n*b.scale/100) }

// contestant does n jobs, handed in beforehand, and says how long they took.
type contestant struct {
	name  string
	jobs  int
	round func(n int) (time.Duration, error)
}

// race runs all in turn, round by round, so that a machine whose speed drifts is
// unfair to none, and prints medians. The last column divides by base.
func (b *bench) race(base string, all []contestant) error {
	rates := map[string][]float64{}
	for range b.rounds {
		for _, c := range all {
			took, err := c.round(c.jobs)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			rates[c.name] = append(rates[c.name], float64(c.jobs)/took.Seconds())
			if err := b.ctx.Err(); err != nil {
				return err
			}
		}
	}
	fmt.Printf("  %-50s %10s  %s\n", "", "jobs/s", "x "+base)
	for _, c := range all {
		fmt.Printf("  %-50s %10.0f  %.2f\n", c.name, median(rates[c.name]), median(rates[c.name])/median(rates[base]))
	}
	return nil
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
