package main

import (
	"context"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
)

func newQueueStats(s cli.Streams, store *queueStore) *cobra.Command {
	format := cli.Format("table", "json")
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "count the jobs, each state on its own",
		Long: `stats counts the jobs by state, with the age of the oldest pending one since it
was added and since it is due. Fewer pending jobs do not mean more successes:
look at the dead ones too.`,
		Example: `  caller queue stats --format json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runQueueStats(cmd.Context(), store, format.Value, s)
		},
	}
	cmd.Flags().Var(&format, "format", "how it is printed")
	return cmd
}

// statsSchema names the form of the JSON line of stats.
const statsSchema = "caller.queue.stats/1"

type statsLine struct {
	Schema        string            `json:"schema"`
	At            retryqueue.Millis `json:"at_ms"`
	Pending       int64             `json:"pending"`
	Leased        int64             `json:"leased"`
	Done          int64             `json:"done"`
	Dead          int64             `json:"dead"`
	DeadDeadline  int64             `json:"dead_deadline"`
	DeadExhausted int64             `json:"dead_exhausted"`
	DeadPermanent int64             `json:"dead_permanent"`
	OldestAdded   cli.Millis        `json:"oldest_pending_since_added_ms"`
	OldestDue     cli.Millis        `json:"oldest_pending_since_due_ms"`
	Attempts      int64             `json:"attempts"`
	LeasesLost    int64             `json:"leases_lost"`
}

func runQueueStats(ctx context.Context, o *queueStore, format string, s cli.Streams) error {
	return o.look(ctx, func(store retryqueue.Store) error {
		st, err := store.Stats(ctx, nowMillis())
		if err != nil {
			return err
		}
		if format == "json" {
			return lineEncoder(s.Out).Encode(statsLine{
				statsSchema, st.At, st.Pending, st.Leased, st.Done, st.Dead(), st.DeadDeadline, st.DeadExhausted, st.DeadPermanent,
				cli.Millis(st.Age()), cli.Millis(st.Overdue()), st.Attempts, st.LeasesLost,
			})
		}
		w := &errWriter{w: s.Out}
		t := cli.NewTable(w, "what", "number")
		for _, row := range []table.Row{
			{"pending", st.Pending},
			{"leased", st.Leased},
			{"done", st.Done},
			{"dead: deadline", st.DeadDeadline},
			{"dead: exhausted", st.DeadExhausted},
			{"dead: permanent", st.DeadPermanent},
			{"attempts so far", st.Attempts},
			{"leases lost so far", st.LeasesLost},
			{"oldest pending, since added", cli.Show(st.Age())},
			{"oldest pending, since due", cli.Show(st.Overdue())},
		} {
			t.AppendRow(row)
		}
		t.Render()
		return w.err
	})
}
