package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// meter runs contestants side by side.
type meter struct {
	rounds int
	length time.Duration
}

// contestant is one of those that are measured side by side. start is called
// for every round and returns what is measured.
type contestant struct {
	name   string
	atOnce int // goroutines
	start  func() (op func(i int) error, err error)
}

// figures are those of one contestant in one round.
type figures struct{ wall, cpu, allocs float64 } // nanoseconds and count per operation

// race runs all in turn, round by round, so that a machine whose speed drifts
// is unfair to none, and prints the medians. Processor time is the better
// figure on a machine that does other things too: waiting does not count in it,
// and the collector's work does.
func (m meter) race(all []contestant) error {
	got := make([][]figures, len(all))
	for range m.rounds {
		for i, c := range all {
			f, err := m.once(c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			got[i] = append(got[i], f)
		}
	}
	fmt.Printf("  %-34s %9s %9s %9s %9s %7s\n", "", "ns/op", "cpu ns/op", "allocs/op", "time ×", "cpu ×")
	wall := func(f figures) float64 { return f.wall }
	cpu := func(f figures) float64 { return f.cpu }
	for i, c := range all {
		fmt.Printf("  %-34s %9.0f %9.0f %9.1f %9.2f %7.2f\n", c.name, median(got[i], wall), median(got[i], cpu),
			median(got[i], func(f figures) float64 { return f.allocs }),
			median(got[i], wall)/median(got[0], wall), median(got[i], cpu)/median(got[0], cpu))
	}
	return nil
}

// once runs c for about the meter's length.
func (m meter) once(c contestant) (figures, error) {
	op, err := c.start()
	if err != nil {
		return figures{}, err
	}
	n := 64 // then as many as fit
	if took, err := run(op, c.atOnce, n); err != nil {
		return figures{}, err
	} else if each := took / time.Duration(n); each > 0 {
		n = max(n, int(m.length/each))
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := processorTime()
	took, err := run(op, c.atOnce, n)
	cpu = processorTime() - cpu
	runtime.ReadMemStats(&after)
	per := func(v float64) float64 { return v / float64(n) }
	return figures{per(float64(took)), per(float64(cpu)), per(float64(after.Mallocs - before.Mallocs))}, err
}

// run performs op n times, shared by some goroutines.
func run(op func(int) error, goroutines, n int) (time.Duration, error) {
	errs := make([]error, goroutines)
	began := time.Now()
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := g; i < n && errs[g] == nil; i += goroutines {
				errs[g] = op(i)
			}
		})
	}
	wg.Wait()
	return time.Since(began), errors.Join(errs...)
}

// processorTime is what this process has used, in user and system together.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(all []figures, of func(figures) float64) float64 {
	v := make([]float64, 0, len(all))
	for _, f := range all {
		v = append(v, of(f))
	}
	return quantile(v, 0.5)
}

// quantile is by nearest rank.
func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}
