package deadlinechain

import (
	"context"
	"fmt"
	"math/big"
	"slices"
)

// MaxRuns is the most runs that Repeat makes.
const MaxRuns = 100_000

// maxEventsInAll bounds the effort of all runs of a Repeat together.
const maxEventsInAll = 10 * maxEvents

// Summary is what many runs of a chain come to.
type Summary struct {
	Runs, OK int

	// How the numbers of the same name in Result are spread over the runs.
	LeafCalls, Elapsed, Entry, Work, Orphaned, OrphanedOverlap Spread
}

// Repeat plays the chain runs times, from 1 to MaxRuns, each with random numbers
// of its own that depend on Chain.Seed and the number of the run alone. Without
// anything random all runs are alike. No trace is kept. Its error wraps
// ErrInvalid or, if a run or all of them together take too many steps,
// ErrTooLarge; between two runs it may be that of ctx.
func Repeat(ctx context.Context, c Chain, runs int) (Summary, error) {
	return repeat(ctx, c, runs, maxEventsInAll)
}

func repeat(ctx context.Context, c Chain, runs, room int) (Summary, error) {
	if runs < 1 || runs > MaxRuns {
		return Summary{}, invalidf("%d runs: want 1 to %d", runs, MaxRuns)
	}
	p, err := newPlan(c)
	if err != nil {
		return Summary{}, err
	}
	p.Trace = 0
	s := Summary{Runs: runs}
	if !p.random() {
		r, err := p.result(c.Seed)
		if err != nil {
			return Summary{}, err
		}
		for range runs {
			s.add(r)
		}
		return s, nil
	}
	for i := range runs {
		if err := ctx.Err(); err != nil {
			return Summary{}, err
		}
		play := newPlay(p, runSeed(c.Seed, i))
		most := min(room, maxEvents)
		play.room = most
		r, err := play.whole()
		if err != nil && most < maxEvents {
			return Summary{}, fmt.Errorf("%w: %d runs of it take too many steps together: take at most %d", ErrTooLarge, runs, i)
		}
		if err != nil {
			return Summary{}, fmt.Errorf("run %d of %d: %w", i+1, runs, err)
		}
		room -= most - play.room
		s.add(r)
	}
	s.sort()
	return s, nil
}

// runSeed is the seed of one run. The seeds of runs lie far apart, so that the
// leaf calls of no two runs share their random numbers.
func runSeed(seed uint64, run int) uint64 { return seed + uint64(run)*0x9e3779b97f4a7c15 }

func (s *Summary) add(r Result) {
	if r.OK {
		s.OK++
	}
	values := []*big.Int{r.LeafCalls, r.Elapsed, r.Entry, r.Work, r.Orphaned, r.OrphanedOverlap}
	for i, spread := range s.spreads() {
		spread.sorted = append(spread.sorted, values[i])
	}
}

func (s *Summary) sort() {
	for _, spread := range s.spreads() {
		slices.SortFunc(spread.sorted, (*big.Int).Cmp)
	}
}

func (s *Summary) spreads() []*Spread {
	return []*Spread{&s.LeafCalls, &s.Elapsed, &s.Entry, &s.Work, &s.Orphaned, &s.OrphanedOverlap}
}

// Spread is how a number is spread over many runs. The zero value has no runs;
// its methods then return nil.
type Spread struct{ sorted []*big.Int }

// Min returns the smallest number.
func (s Spread) Min() *big.Int { return s.at(0) }

// Max returns the largest number.
func (s Spread) Max() *big.Int { return s.at(len(s.sorted) - 1) }

// Percentile returns the smallest number that at least p of 100 runs do not
// exceed, p from 1 to 99; nil where there are too few runs to know: with fewer
// than 100/(100-p) of them it would just be the largest.
func (s Spread) Percentile(p int) *big.Int {
	n := len(s.sorted)
	if p < 1 || p > 99 || n*(100-p) < 100 {
		return nil
	}
	return s.at((n*p+99)/100 - 1)
}

// Mean returns the mean, rounded down; nil without runs.
func (s Spread) Mean() *big.Int {
	if len(s.sorted) == 0 {
		return nil
	}
	sum := num(0)
	for _, v := range s.sorted {
		sum = plus(sum, v)
	}
	return sum.Div(sum, num(int64(len(s.sorted))))
}

func (s Spread) at(i int) *big.Int {
	if i < 0 || i >= len(s.sorted) {
		return nil
	}
	return plus(s.sorted[i], num(0))
}
