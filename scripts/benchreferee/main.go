// Command benchreferee counts how often the referee of the labs is wrong while all
// processors are kept busy. scripts/bench-referee starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"chaoslab/labs"
	"chaoslab/labs/referee/confine"
	"chaoslab/labs/referee/proof"
	"chaoslab/labs/sandbox"
)

// options is what the flags say.
type options struct {
	quick   bool
	rounds  int
	lab     int
	lang    string
	limit   time.Duration
	seed    uint64
	atATime int
	busy    int
}

func main() {
	if code, handled := sandbox.Main(os.Args); handled {
		os.Exit(code)
	}
	if code, handled := confine.Main(os.Args); handled {
		os.Exit(code) // this process could not become a student's program
	}
	if len(os.Args) > 0 && os.Args[0] == burnName {
		burn()
		return
	}
	var o options
	flag.BoolVar(&o.quick, "quick", false, "only Python, and of the wrong programs one for each exercise")
	flag.IntVar(&o.rounds, "rounds", 1, "how often everything is graded, each time with another seed")
	flag.IntVar(&o.lab, "lab", 0, "only the exercise of this number")
	flag.StringVar(&o.lang, "lang", "", "only this language")
	flag.DurationVar(&o.limit, "limit", 12*time.Minute, "what has not begun by then is left out")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed of the first round")
	flag.IntVar(&o.atATime, "at-a-time", 4, "how many programs are graded side by side")
	flag.IntVar(&o.busy, "busy", runtime.NumCPU(), "how many processes keep the processors busy")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 || o.limit <= 0 || o.atATime < 1 || o.busy < 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench-referee: %v\n", err)
	}
	os.Exit(code)
}

// run returns 0 if no verdict was wrong, 1 if one was, 130 after an interrupt.
func run(ctx context.Context, o options) (int, error) {
	jobs, err := choose(o)
	if err != nil {
		return 1, err
	}
	scratch, err := os.MkdirTemp("", "chaoslab-bench-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(scratch)
	calm, err := startLoad(o.busy)
	if err != nil {
		return 1, err
	}
	defer calm()
	fmt.Printf("%s, %s/%s, %d processors, %d busy processes beside %d gradings at a time\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.busy, o.atATime)
	if err := confine.Available(); err != nil {
		fmt.Printf("%v\n", err)
	}
	b := &bench{scratch: scratch, began: time.Now(), until: time.Now().Add(o.limit), tallies: map[row]*tally{}}
	for r := range o.rounds {
		b.grade(ctx, fmt.Sprintf("round %d", r+1), jobs, o.seed+uint64(r), o.atATime)
	}
	b.grade(ctx, "twice at once", twice(jobs), o.seed, 2)
	b.print(os.Stdout)
	switch {
	case ctx.Err() != nil:
		return 130, errors.New("interrupted")
	case b.wrong() > 0:
		return 1, nil
	}
	return 0, nil
}

// choose returns what is to be graded. What cannot be run here is named and left
// out.
func choose(o options) ([]task, error) {
	all, err := labs.All()
	if err != nil {
		return nil, err
	}
	var tasks []task
	for _, lab := range all {
		if o.lab != 0 && lab.Number != o.lab {
			continue
		}
		jobs, err := proof.Jobs(lab)
		if err != nil {
			return nil, err
		}
		wrongs := 0
		for _, j := range jobs {
			if j.Kind == proof.Wrong {
				wrongs++
			}
			if o.lang != "" && j.Lang != o.lang {
				continue
			}
			if o.quick && (j.Lang != "python" || j.Kind == proof.Wrong && wrongs > 1) {
				continue
			}
			if err := j.Missing(); err != nil {
				fmt.Printf("left out: %s: %v\n", j.Name, err)
				continue
			}
			tasks = append(tasks, task{j, string(j.Kind)})
		}
	}
	if len(tasks) == 0 {
		return nil, errors.New("there is no such exercise, or none of its languages is here")
	}
	return tasks, nil
}

// twice returns each solution two times, one behind the other: graded two at a
// time, each exercise runs beside itself.
func twice(tasks []task) []task {
	var both []task
	for _, t := range tasks {
		if t.job.Kind == proof.Solution {
			t.column = "beside itself"
			both = append(both, t, t)
		}
	}
	return both
}
