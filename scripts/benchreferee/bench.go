package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"

	"chaoslab/labs/referee/proof"
)

// task is one program to grade, and the column in which it counts.
type task struct {
	job    proof.Job
	column string
}

// columns are those of the table, in order.
func columns() []string {
	return []string{string(proof.Starter), string(proof.Solution), string(proof.Wrong), "beside itself"}
}

// row is one line of the table.
type row struct{ exercise, lang string }

// tally counts the verdicts of a row by column, and how often a scenario was run
// anew because it was inconclusive.
type tally struct {
	marks map[string]map[proof.Mark]int
	again int
}

// bench is one run.
type bench struct {
	scratch      string
	began, until time.Time

	mu       sync.Mutex
	rows     []row
	tallies  map[row]*tally
	n        int // graded so far
	left     int // not begun in time
	loud     int
	complain []string
}

// grade grades the tasks, so many at a time, and counts.
func (b *bench) grade(ctx context.Context, title string, tasks []task, seed uint64, atATime int) {
	var wg sync.WaitGroup
	next := make(chan task)
	for range atATime {
		wg.Go(func() {
			for t := range next {
				b.one(ctx, t, seed)
			}
		})
	}
	for i, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		if time.Now().After(b.until) {
			b.left += len(tasks) - i
			break
		}
		next <- t
		fmt.Fprintf(os.Stderr, "\r%-16s %d of %d, %d wrong, %v ", title, i+1, len(tasks), b.wrong(), time.Since(b.began).Round(time.Second))
	}
	close(next)
	wg.Wait()
	fmt.Fprintln(os.Stderr)
}

func (b *bench) one(ctx context.Context, t task, seed uint64) {
	b.mu.Lock()
	b.n++
	dir := filepath.Join(b.scratch, fmt.Sprint(b.n))
	b.mu.Unlock()
	o := t.job.Grade(ctx, dir, seed)
	_ = os.RemoveAll(dir)
	if ctx.Err() != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := row{t.job.Lab.Folder(), t.job.Lang}
	sum := b.tallies[r]
	if sum == nil {
		sum = &tally{marks: map[string]map[proof.Mark]int{}}
		b.tallies[r] = sum
		b.rows = append(b.rows, r)
	}
	if sum.marks[t.column] == nil {
		sum.marks[t.column] = map[proof.Mark]int{}
	}
	sum.marks[t.column][o.Mark]++
	sum.again += o.Again
	if o.Loud {
		b.loud++
	}
	if o.Mark != proof.Right {
		b.complain = append(b.complain, fmt.Sprintf("%s: %s, %s: %s\nwant %s", o.Mark, t.job.Name, t.column, o.Why, t.job.Wants()))
	}
}

// wrong counts the wrong verdicts so far.
func (b *bench) wrong() int { return b.count(proof.Off) }

func (b *bench) count(m proof.Mark) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, sum := range b.tallies {
		for _, marks := range sum.marks {
			n += marks[m]
		}
	}
	return n
}

// print prints the table, and everything that was not right.
func (b *bench) print(w io.Writer) {
	fmt.Fprint(w, "\nverdicts: right/wrong/inconclusive\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "exercise\tlanguage")
	for _, c := range columns() {
		fmt.Fprintf(t, "\t%s", c)
	}
	fmt.Fprint(t, "\truns anew\n")
	again := 0
	for _, r := range sorted(b.rows) {
		sum := b.tallies[r]
		fmt.Fprintf(t, "%s\t%s", r.exercise, r.lang)
		for _, c := range columns() {
			cell := "-"
			if m := sum.marks[c]; m != nil {
				cell = fmt.Sprintf("%d/%d/%d", m[proof.Right], m[proof.Off], m[proof.Unsure])
			}
			fmt.Fprintf(t, "\t%s", cell)
		}
		fmt.Fprintf(t, "\t%d\n", sum.again)
		again += sum.again
	}
	_ = t.Flush() //nolint:errcheck // stdout
	right, wrong, unsure := b.count(proof.Right), b.count(proof.Off), b.count(proof.Unsure)
	fmt.Fprintf(w, "\n%d gradings in %v: %d right, %d wrong, %d inconclusive; %d met a busy machine, %d scenarios were run anew\n",
		right+wrong+unsure, time.Since(b.began).Round(time.Second), right, wrong, unsure, b.loud, again)
	if b.left > 0 {
		fmt.Fprintf(w, "%d gradings were left out: the time was over (-limit)\n", b.left)
	}
	for _, c := range b.complain {
		fmt.Fprintf(w, "\n%s\n", c)
	}
}
