package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue/prove"
	"chaoslab/labs/retryqueue/stores"
)

// queueProveOptions is what the flags of prove say.
type queueProveOptions struct {
	store   *queueStore
	kill    cli.Duration
	workers int
	jobs    int
	seed    uint64
	format  cli.Choice
}

const proveWorkerName = "prove-worker"

func newQueueProve(s cli.Streams, store *queueStore) *cobra.Command {
	o := &queueProveOptions{store: store, kill: cli.Duration{D: 10 * time.Second}, format: cli.Format("table", "json")}
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "kill workers at random and check that the queue keeps its word",
		Long: `prove is the crash test: worker processes on one store are killed at random
points, stopped past their leases and made to stall right after sending, while
jobs are handed in and a receiver answers, refuses, drops and delays. Then the
queue comes to rest, and everything is checked: nothing lost, one effect an id,
no job started more often than it may be, every change a lawful one. Exit code 1
if not.

It uses a store of its own: a temporary SQLite file, or with --store
postgres://... a schema that is dropped at the end.`,
		Example: `  caller queue prove
  caller queue prove --for 1m --jobs 2000 --store postgres://me@127.0.0.1/test`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint64()
			}
			if cmd.Flags().Changed("store") && !stores.IsPostgres(store.where) {
				return cli.Usagef("--store: prove makes a SQLite file of its own; only postgres://… goes with it")
			}
			switch {
			case o.workers < 1 || o.workers > prove.MaxWorkers:
				return cli.Usagef("--workers %d is out of range: from 1 to %d", o.workers, prove.MaxWorkers)
			case o.jobs < 1 || o.jobs > prove.MaxJobs:
				return cli.Usagef("--jobs %d is out of range: from 1 to %d", o.jobs, prove.MaxJobs)
			}
			if err := checkMillis("for", o.kill.D); err != nil {
				return err
			}
			return runQueueProve(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.Var(&o.kill, "for", "how long workers are killed")
	f.IntVar(&o.workers, "workers", 4, "processes at the same time")
	f.IntVar(&o.jobs, "jobs", 300, "jobs at first, and again meanwhile")
	f.Uint64Var(&o.seed, "seed", 0, "of what is handed in and answered (default random)")
	f.Var(&o.format, "format", "how it is printed")
	return cmd
}

// proveSchema names the form of the JSON line of a crash test.
const proveSchema = "caller.queue.prove/1"

type proveLine struct {
	Schema string `json:"schema"`
	Seed   uint64 `json:"seed"`
	prove.Result
}

func runQueueProve(ctx context.Context, o *queueProveOptions, s cli.Streams) error {
	p := prove.Options{
		Workers: o.workers, Jobs: o.jobs, Chaos: o.kill.D, Seed: o.seed,
		Command: func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, os.Args[0], "queue", proveWorkerName)
		},
	}
	if stores.IsPostgres(o.store.where) {
		p.Where, p.Schema = o.store.where, o.store.schema
	}
	bar := cli.NewProgress(s.Err, int(o.kill.D.Seconds())+1, "killing")
	seen := 0
	p.Progress = func(now prove.Progress) {
		if n := min(int(now.Elapsed.Seconds()), int(o.kill.D.Seconds())); n > seen {
			bar.Add(n - seen)
			seen = n
		}
	}
	res, err := prove.Run(ctx, p)
	bar.Close()
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, nil)
	}
	if err != nil {
		return err
	}
	if err := printProve(o, res, s); err != nil {
		return err
	}
	if n := len(res.Violations); n > 0 {
		return fmt.Errorf("the queue did not keep its word: %d findings; again with --seed %d", n, o.seed)
	}
	return nil
}

func printProve(o *queueProveOptions, r prove.Result, s cli.Streams) error {
	if o.format.Value == "json" {
		return lineEncoder(s.Out).Encode(proveLine{proveSchema, o.seed, r})
	}
	w := &errWriter{w: s.Out}
	t := cli.NewTable(w, "what", "number")
	for _, row := range []table.Row{
		{"jobs", r.Jobs},
		{"handed in again", r.Repeats},
		{"workers started", r.Starts},
		{"workers killed from outside", r.Kills},
		{"workers killed by themselves", r.Suicides},
		{"workers stopped past their lease", r.Stops},
		{"attempts claimed", r.Stats.Attempts},
		{"leases lost", r.Stats.LeasesLost},
		{"deliveries", r.Deliveries},
		{"of these known to the inbox", r.Duplicates},
		{"ids with their effect", r.Accepted},
		{"jobs done", r.Stats.Done},
		{"jobs dead: deadline", r.Stats.DeadDeadline},
		{"jobs dead: exhausted", r.Stats.DeadExhausted},
		{"jobs dead: permanent", r.Stats.DeadPermanent},
		{"promises broken", len(r.Violations)},
	} {
		t.AppendRow(row)
	}
	t.Render()
	for _, v := range r.Violations {
		fmt.Fprintf(w, "%s: %s\n", v.Kind, v.Detail)
	}
	fmt.Fprintf(s.Err, "seed %d\n", o.seed)
	return w.err
}

// newQueueProveWorker is what prove starts; it is of no use to a person.
func newQueueProveWorker(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:    proveWorkerName,
		Short:  "one worker of prove",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return prove.Worker(cmd.Context(), s.In, s.Out, nil)
		},
	}
}
