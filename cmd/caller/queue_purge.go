package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
)

func newQueuePurge(s cli.Streams, store *queueStore) *cobra.Command {
	var olderThan cli.Duration
	format := cli.Format("table", "json")
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
			return runQueuePurge(cmd.Context(), store, olderThan.D, format.Value, s)
		},
	}
	cmd.Flags().Var(&olderThan, "older-than", "for how long a job must have ended")
	cmd.Flags().Var(&format, "format", "how it is printed")
	return cmd
}

// purgeSchema names the form of the JSON line of purge.
const purgeSchema = "caller.queue.purge/1"

type purgeLine struct {
	Schema      string            `json:"schema"`
	Purged      int               `json:"purged"`
	EndedBefore retryqueue.Millis `json:"ended_before_ms"`
}

func runQueuePurge(ctx context.Context, o *queueStore, olderThan time.Duration, format string, s cli.Streams) error {
	return o.with(ctx, func(store retryqueue.Store) error {
		now := nowMillis()
		st, err := store.Stats(ctx, now)
		if err != nil {
			return err
		}
		bar := cli.NewProgress(s.Err, int(st.Pending+st.Leased+st.Done+st.Dead()), "purging")
		before := now.Add(-olderThan)
		n, err := store.Purge(ctx, before, bar.Add)
		bar.Close()
		if ctx.Err() != nil {
			err = cli.Exit(cli.ExitInterrupted, fmt.Errorf("interrupted: %d were purged, the rest is as it was", n))
		}
		var werr error
		if format == "json" {
			werr = lineEncoder(s.Out).Encode(purgeLine{purgeSchema, n, before})
		} else {
			_, werr = fmt.Fprintf(s.Out, "purged %d\n", n)
		}
		if err == nil {
			err = werr
		}
		return err
	})
}
