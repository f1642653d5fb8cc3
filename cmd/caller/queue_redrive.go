package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os/user"
	"slices"
	"strings"
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
	format   cli.Choice
}

func newQueueRedrive(s cli.Streams, store *queueStore) *cobra.Command {
	o := &queueRedriveOptions{store: store, within: cli.Duration{D: 24 * time.Hour}, format: cli.Format("table", "json")}
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
  caller queue redrive --reason exhausted,permanent --by me`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := parseFilter(cmd, &o.filter); err != nil {
				return err
			}
			if slices.Contains(o.filter.Reasons, retryqueue.ReasonNone) {
				return cli.Usagef("--reason none: a dead job has one: deadline, exhausted, permanent")
			}
			if o.ids = args; (len(args) == 0) == (len(o.filter.Reasons) == 0) {
				return cli.Usagef("redrive what? give ids, or --reason deadline,exhausted,permanent for all of these")
			}
			for _, id := range o.ids {
				if err := retryqueue.CheckID(id); err != nil {
					return cli.Usagef("%w", err)
				}
			}
			if err := cmp.Or(checkMillis("deadline-in", o.within.D), cli.RefuseEmpty(cmd, "by")); err != nil {
				return err
			}
			if err := retryqueue.CheckBy(o.by); err != nil {
				return cli.Usagef("--by: %w", err)
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
	f.Var(&o.format, "format", "how it is printed")
	f.StringVar(&o.by, "by", "", "who does it, for the record (default: the user)")
	return cmd
}

// redriveSchema names the form of the JSON line of a job redriven.
const redriveSchema = "caller.queue.redrive/1"

type redriveLine struct {
	Schema      string            `json:"schema"`
	ID          string            `json:"id"`
	State       retryqueue.State  `json:"state"`
	Attempts    int               `json:"attempts"`
	MaxAttempts int               `json:"max_attempts"`
	Deadline    retryqueue.Millis `json:"deadline_ms"`
}

func runQueueRedrive(ctx context.Context, o *queueRedriveOptions, s cli.Streams) error {
	return o.store.with(ctx, func(store retryqueue.Store) error {
		queue, err := retryqueue.New(retryqueue.Config{Store: store})
		if err != nil {
			return err
		}
		total, err := o.count(ctx, store)
		if err != nil {
			return err
		}
		bar := showProgress(s, o.format.Value == "json", total, "redriving")
		defer bar.Close()
		deadline, n, purged := nowMillis().Add(o.within.D), 0, 0
		enc := lineEncoder(s.Out)
		var refused []string
		err = o.each(ctx, store, func(ids []string) error {
			list, err := queue.RedriveAll(ctx, ids, o.by, o.attempts, deadline)
			bar.Add(len(list))
			for _, r := range list {
				switch {
				case r.Err == nil:
					n++
				case len(o.ids) > 0:
					refused = append(refused, r.Err.Error())
				case errors.Is(r.Err, retryqueue.ErrPurged): // else it changed since it was listed
					purged++
				}
			}
			for _, r := range list {
				if err != nil || r.Err != nil || o.format.Value == "table" {
					continue
				}
				j := r.Job
				err = enc.Encode(redriveLine{redriveSchema, j.ID, j.State, j.Attempts, j.MaxAttempts, j.Deadline})
			}
			return err
		})
		if err == nil && len(refused) > 0 {
			err = refusals(refused)
		}
		bar.Close()
		if purged > 0 {
			fmt.Fprintf(s.Err, "purged jobs, which cannot be redriven: %d\n", purged)
		}
		if ctx.Err() != nil {
			err = cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted: %d were redriven, the rest is as it was", n))
		}
		if o.format.Value == "table" {
			if _, werr := fmt.Fprintf(s.Out, "redriven %d\n", n); err == nil {
				err = werr
			}
		}
		return err
	})
}

// refusals is one line for jobs that were refused, the first of them by name.
func refusals(texts []string) error {
	const named = 5
	text := strings.Join(texts[:min(len(texts), named)], "; ")
	if more := len(texts) - named; more > 0 {
		text += fmt.Sprintf("; and %d more like these", more)
	}
	return errors.New(text)
}

// count is how many jobs there are to do.
func (o *queueRedriveOptions) count(ctx context.Context, store retryqueue.Store) (int, error) {
	if len(o.ids) > 0 {
		return len(o.ids), nil
	}
	st, err := store.Stats(ctx, nowMillis())
	n := int64(0)
	for reason, dead := range map[retryqueue.Reason]int64{
		retryqueue.ReasonDeadline: st.DeadDeadline, retryqueue.ReasonExhausted: st.DeadExhausted, retryqueue.ReasonPermanent: st.DeadPermanent,
	} {
		if slices.Contains(o.filter.Reasons, reason) {
			n += dead
		}
	}
	return int(n), err
}

// each calls some with the ids asked for, many at a time.
func (o *queueRedriveOptions) each(ctx context.Context, store retryqueue.Store, some func([]string) error) error {
	if len(o.ids) > 0 {
		for ids := range slices.Chunk(o.ids, pageSize) {
			if err := some(ids); err != nil {
				return err
			}
		}
		return nil
	}
	o.filter.States = []retryqueue.State{retryqueue.Dead}
	_, err := pages(ctx, store, o.filter, math.MaxInt, func(jobs []retryqueue.Job) error {
		ids := make([]string, len(jobs))
		for i, j := range jobs {
			ids[i] = j.ID
		}
		return some(ids)
	})
	return err
}
