package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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
		Args: cobra.NoArgs,
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
	return o.with(ctx, func(store retryqueue.Store) error {
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

// queueListOptions is what the flags of list say.
type queueListOptions struct {
	store  *queueStore
	filter retryqueue.Filter
	format cli.Choice
}

func newQueueList(s cli.Streams, store *queueStore) *cobra.Command {
	o := &queueListOptions{store: store, format: cli.Format("table", "json")}
	var states, reasons string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list jobs in the order in which they were added",
		Example: `  caller queue list --state dead --reason exhausted,permanent`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.filter, err = parseFilter(states, reasons, o.filter); err != nil {
				return cli.Usagef("%w", err)
			}
			return runQueueList(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&states, "state", "", "only these: pending, leased, done, dead")
	f.StringVar(&reasons, "reason", "", "only these: deadline, exhausted, permanent")
	f.StringVar(&o.filter.After, "after", "", "the last id of the page before")
	f.IntVar(&o.filter.Limit, "limit", retryqueue.DefaultLimit, "how many at most")
	f.Var(&o.format, "format", "how it is printed")
	return cmd
}

// parseFilter adds the words of --state and --reason to f.
func parseFilter(states, reasons string, f retryqueue.Filter) (retryqueue.Filter, error) {
	for word := range strings.SplitSeq(states, ",") {
		var st retryqueue.State
		if word == "" {
			continue
		}
		if err := st.UnmarshalText([]byte(word)); err != nil {
			return f, fmt.Errorf("--state: %w", err)
		}
		f.States = append(f.States, st)
	}
	for word := range strings.SplitSeq(reasons, ",") {
		var r retryqueue.Reason
		if word == "" {
			continue
		}
		if err := r.UnmarshalText([]byte(word)); err != nil {
			return f, fmt.Errorf("--reason: %w", err)
		}
		f.Reasons = append(f.Reasons, r)
	}
	if f.Limit < 1 {
		return f, fmt.Errorf("--limit %d is out of range: at least 1", f.Limit)
	}
	return f, nil
}

func runQueueList(ctx context.Context, o *queueListOptions, s cli.Streams) error {
	return o.store.with(ctx, func(store retryqueue.Store) error {
		jobs, err := store.List(ctx, o.filter)
		if err != nil {
			return err
		}
		w := &errWriter{w: s.Out}
		if o.format.Value == "json" {
			for _, j := range jobs {
				if err := lineEncoder(w).Encode(lineOf(j)); err != nil {
					return err
				}
			}
			return nil
		}
		t := cli.NewTable(w, "id", "state", "attempts", "last error")
		for _, j := range jobs {
			state := j.State.String()
			if j.State == retryqueue.Dead {
				state += ": " + j.Reason.String()
			}
			t.AppendRow(table.Row{clip(j.ID, 24), state, fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts), clip(j.LastError, 24)})
		}
		t.Render()
		if len(jobs) == o.filter.Limit {
			fmt.Fprintf(s.Err, "perhaps more: --after %s\n", jobs[len(jobs)-1].ID)
		}
		return w.err
	})
}

// clip shortens text to n bytes for a table.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-3], "") + "..."
}

func newQueueShow(s cli.Streams, store *queueStore) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "show one job whole, as JSON, and who redrove it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return store.with(ctx, func(store retryqueue.Store) error {
				j, err := store.Get(ctx, args[0])
				if err != nil {
					return err
				}
				acts, err := store.Acts(ctx, args[0])
				if err != nil {
					return err
				}
				line := lineOf(j)
				if json.Valid(j.Payload) {
					line.Payload = j.Payload
				} else if line.Payload, err = json.Marshal(j.Payload); err != nil {
					return err
				}
				for _, a := range acts {
					line.Acts = append(line.Acts, actLine{a.At, a.By, a.MoreAttempts, a.Deadline, a.OldDeadline, a.OldReason})
				}
				enc := lineEncoder(s.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(line)
			})
		},
	}
}
