package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
)

// queueRedriveOptions is what the flags of redrive say.
type queueRedriveOptions struct {
	store    *queueStore
	ids      []string
	filter   retryqueue.Filter
	attempts int
	within   cli.Duration
	by       string
}

func newQueueRedrive(s cli.Streams, store *queueStore) *cobra.Command {
	o := &queueRedriveOptions{store: store, within: cli.Duration{D: 24 * time.Hour}}
	var reasons string
	cmd := &cobra.Command{
		Use:   "redrive (ID... | --reason REASON)",
		Short: "give dead jobs more attempts and a new deadline",
		Long: `redrive makes dead jobs pending again, the only way out of a final state. It is
a person's act and is recorded. It resets nothing: attempts go on counting, and
the maximum grows by --attempts.

Before you do: the receiver may have had the job's effect already (a dead job
may have been sent). It knows the id only while its memory lasts.`,
		Example: `  caller queue redrive order-17 --attempts 3 --deadline-in 1h
  caller queue redrive --reason exhausted`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.filter, err = parseFilter("dead", reasons, retryqueue.Filter{Limit: retryqueue.DefaultLimit}); err != nil {
				return cli.Usagef("%w", err)
			}
			if o.ids = args; (len(args) == 0) == (reasons == "") {
				return cli.Usagef("redrive what? give ids, or --reason deadline,exhausted,permanent for all of these")
			}
			if o.attempts < 1 || o.attempts > retryqueue.MaxAttempts {
				return cli.Usagef("--attempts %d is out of range: from 1 to %d", o.attempts, retryqueue.MaxAttempts)
			}
			if o.by == "" {
				if u, err := user.Current(); err == nil {
					o.by = u.Username
				}
			}
			return runQueueRedrive(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&reasons, "reason", "", "all that are dead for these reasons")
	f.IntVar(&o.attempts, "attempts", 3, "how many more attempts")
	f.Var(&o.within, "deadline-in", "from now to the new deadline")
	f.StringVar(&o.by, "by", "", "who does it, for the record (default: the user)")
	return cmd
}

func runQueueRedrive(ctx context.Context, o *queueRedriveOptions, s cli.Streams) error {
	return o.store.with(ctx, func(store retryqueue.Store) error {
		queue, err := retryqueue.New(retryqueue.Config{Store: store})
		if err != nil {
			return err
		}
		deadline, n := nowMillis().Add(o.within.D), 0
		one := func(id string) error {
			_, err := queue.Redrive(ctx, id, o.by, o.attempts, deadline)
			if err == nil {
				n++
			}
			return err
		}
		err = o.each(ctx, store, one)
		fmt.Fprintf(s.Out, "redriven %d\n", n)
		return err
	})
}

// each calls one with each id asked for. With a reason, a job that is no longer
// dead or was purged is passed over.
func (o *queueRedriveOptions) each(ctx context.Context, store retryqueue.Store, one func(string) error) error {
	if len(o.ids) > 0 {
		var errs []error
		for _, id := range o.ids {
			errs = append(errs, one(id))
		}
		return errors.Join(errs...)
	}
	for {
		jobs, err := store.List(ctx, o.filter)
		if err != nil || len(jobs) == 0 {
			return err
		}
		for _, j := range jobs {
			if err := one(j.ID); err != nil && !errors.Is(err, retryqueue.ErrNotDead) && !errors.Is(err, retryqueue.ErrPurged) {
				return err
			}
		}
		o.filter.After = jobs[len(jobs)-1].ID
	}
}

func newQueuePurge(s cli.Streams, store *queueStore) *cobra.Command {
	var olderThan cli.Duration
	cmd := &cobra.Command{
		Use:   "purge --older-than DURATION",
		Short: "drop the payloads of jobs that ended long ago, and keep their ids",
		Long: `purge drops the payloads of jobs that have been done or dead for longer than
--older-than. Their ids, states and errors stay, so that an old id that is
handed in again is known. A purged job cannot be redriven.`,
		Example: `  caller queue purge --older-than 720h`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !olderThan.IsSet {
				return cli.Usagef("--older-than: missing: for how long a job must have ended")
			}
			return runQueuePurge(cmd.Context(), store, olderThan.D, s)
		},
	}
	cmd.Flags().Var(&olderThan, "older-than", "for how long a job must have ended")
	return cmd
}

func runQueuePurge(ctx context.Context, o *queueStore, olderThan time.Duration, s cli.Streams) error {
	return o.with(ctx, func(store retryqueue.Store) error {
		n, err := store.Purge(ctx, nowMillis().Add(-olderThan))
		fmt.Fprintf(s.Out, "purged %d\n", n)
		return err
	})
}
