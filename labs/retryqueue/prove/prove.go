package prove

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/stores"
)

// Options set up a crash test. Every zero field but Command has the default named
// beside it.
type Options struct {
	// Command makes a worker process, not started: it must run Worker with its
	// standard input and output. Required.
	Command func(context.Context) *exec.Cmd
	// Where is the store, which must not exist. Empty: a SQLite file in Dir.
	Where  string
	Schema string // of a PostgreSQL store; empty: one of its own, dropped at the end
	// Dir is a folder for what the test needs. Empty: a temporary one, removed at
	// the end.
	Dir     string
	Workers int           // processes at the same time, up to MaxWorkers; zero: 4
	Jobs    int           // handed in at first, as many again while it runs, up to MaxJobs; zero: 150
	Chaos   time.Duration // how long processes are killed; zero: 5 s
	// Kills is how often a worker must have been killed, and a lease been lost,
	// before it goes on: on a slow machine the killing then takes longer than
	// Chaos, ten times as long at most. Zero: Chaos alone decides.
	Kills int
	Drain time.Duration // how long the queue may take to come to rest; zero: 60 s
	Kill  time.Duration // mean time between two kills; zero: 30 ms
	Lease time.Duration // zero: 300 ms
	Seed  uint64

	// Wrap is put around the store with which jobs are handed in: a test plants
	// its faults here and in Worker.
	Wrap func(retryqueue.Store, *sql.DB) retryqueue.Store
	// Progress, if set, is told now and then how far it is.
	Progress func(Progress)
}

// The bounds of Options.
const (
	MaxWorkers = 64
	MaxJobs    = 100_000
)

// Progress is how far a crash test is.
type Progress struct {
	Phase   string // chaos, drain, check
	Elapsed time.Duration
	Result  Result // so far
}

// Result is what a crash test saw.
type Result struct {
	Jobs       int              `json:"jobs"`
	Repeats    int              `json:"handed_in_again"`
	Starts     int              `json:"worker_starts"`
	Kills      int              `json:"kills"`
	Suicides   int              `json:"own_kills"` // workers that killed themselves at a chosen point
	Stops      int              `json:"stops"`
	Deliveries int              `json:"deliveries"`
	Accepted   int              `json:"accepted"`
	Duplicates int              `json:"duplicates"` // deliveries that the inbox knew
	Stats      retryqueue.Stats `json:"stats"`
	Violations []Violation      `json:"violations"`
}

// Violation is one promise that was broken.
type Violation struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
}

// The kinds of violations.
const (
	NotFinal      = "not_final"       // a job came to no end
	MissingJob    = "lost"            // a job that was handed in is gone
	NotAccepted   = "not_accepted"    // done, but the receiver never accepted it
	TwoEffects    = "two_effects"     // an id has more than one effect
	NoEffect      = "no_effect"       // accepted, but no effect
	TooOften      = "too_often"       // more attempts or deliveries than allowed
	SentTwice     = "sent_twice"      // the same attempt was delivered twice
	DeadlineMoved = "deadline_moved"  // the deadline is not the one handed in
	WrongReason   = "wrong_reason"    // exhausted with attempts left, and the like
	SentAgain     = "sent_again"      // sent again, or dead, though its acceptance was heard in all quiet
	Unlawful      = "unlawful_change" // the audit saw a change that may not be
	Inconsistent  = "inconsistent"    // the store's own check failed
)

func (o Options) withDefaults() (Options, error) {
	if o.Command == nil {
		return o, errors.New("prove: Command: missing")
	}
	for _, f := range []struct {
		name       string
		value      *int
		zero, most int
	}{{"Workers", &o.Workers, 4, MaxWorkers}, {"Jobs", &o.Jobs, 150, MaxJobs}} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < 1 || *f.value > f.most {
			return o, fmt.Errorf("prove: %s: %d is out of range: from 1 to %d", f.name, *f.value, f.most)
		}
	}
	for _, f := range []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{{"Chaos", &o.Chaos, 5 * time.Second}, {"Drain", &o.Drain, time.Minute}, {"Kill", &o.Kill, 30 * time.Millisecond}, {"Lease", &o.Lease, 300 * time.Millisecond}} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < time.Millisecond {
			return o, fmt.Errorf("prove: %s: %v is out of range: at least 1ms", f.name, *f.value)
		}
	}
	if stores.IsPostgres(o.Where) && o.Schema == "" {
		o.Schema = fmt.Sprintf("prove_%d_%d", os.Getpid(), time.Now().UnixNano())
	}
	if o.Wrap == nil {
		o.Wrap = func(s retryqueue.Store, _ *sql.DB) retryqueue.Store { return s }
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o, nil
}

// Run makes one crash test. The error says that it could not be made; what it
// found is in the Result.
func Run(ctx context.Context, o Options) (res Result, err error) {
	if o, err = o.withDefaults(); err != nil {
		return res, err
	}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "retryqueue-prove-"); err != nil {
			return res, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	}
	if o.Where == "" {
		o.Where = filepath.Join(o.Dir, "queue.db")
	}
	t, err := newTrial(ctx, o)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.run(ctx); err != nil {
		return t.result, err
	}
	return t.result, nil
}
