package main

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
)

// queueListOptions is what the flags of list say.
type queueListOptions struct {
	store  *queueStore
	filter retryqueue.Filter
	limit  int
	format cli.Choice
}

func newQueueList(s cli.Streams, store *queueStore) *cobra.Command {
	o := &queueListOptions{store: store, format: cli.Format("table", "json")}
	var states, reasons string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list jobs in the order in which they were added",
		Example: `  caller queue list
  caller queue list --state dead --reason exhausted,permanent`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.RefuseEmpty(cmd, "after"); err != nil {
				return err
			}
			if err := parseFilter(cmd, &o.filter); err != nil {
				return err
			}
			if cmd.Flags().Changed("after") {
				if err := retryqueue.CheckID(o.filter.After); err != nil {
					return cli.Usagef("--after: %w", err)
				}
			}
			if o.limit < 1 {
				return cli.Usagef("--limit %d is out of range: at least 1", o.limit)
			}
			return runQueueList(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&states, "state", "", "only these: pending, leased, done, dead")
	f.StringVar(&reasons, "reason", "", "only these: deadline, exhausted, permanent")
	f.StringVar(&o.filter.After, "after", "", "the last id of the page before")
	f.IntVar(&o.limit, "limit", retryqueue.DefaultLimit, "how many at most")
	f.Var(&o.format, "format", "how it is printed")
	return cmd
}

// parseFilter adds the words of --state and --reason, where cmd has them and they
// were given, to f. Its error is one of usage.
func parseFilter(cmd *cobra.Command, f *retryqueue.Filter) error {
	var err error
	if x := cmd.Flags().Lookup("state"); x != nil && x.Changed {
		if f.States, err = parseWords[retryqueue.State](x.Value.String(), "pending, leased, done, dead"); err != nil {
			return cli.Usagef("--state: %w", err)
		}
	}
	if x := cmd.Flags().Lookup("reason"); x != nil && x.Changed {
		if f.Reasons, err = parseWords[retryqueue.Reason](x.Value.String(), "deadline, exhausted, permanent"); err != nil {
			return cli.Usagef("--reason: %w", err)
		}
	}
	return nil
}

// parseWords reads words with commas between them. Nothing before, between or
// after commas is an error and not everything: mostly a variable of a script was
// never set.
func parseWords[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](list, words string) ([]T, error) {
	var all []T
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return nil, fmt.Errorf("%q has an empty word: one or more of %s", list, words)
		}
		var v T
		if err := P(&v).UnmarshalText([]byte(word)); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// pageSize is how many jobs are held at once.
const pageSize = 500

// pages calls f with page after page of the jobs that filter chooses, up to most
// jobs, and returns the id after which there are more, if there are.
func pages(ctx context.Context, store retryqueue.Store, filter retryqueue.Filter, most int, f func([]retryqueue.Job) error) (more string, err error) {
	for {
		// One more than may be shown tells whether there are more.
		filter.Limit = min(pageSize, most) + 1
		jobs, err := store.List(ctx, filter)
		if err != nil || len(jobs) == 0 {
			return "", err
		}
		shown := jobs[:min(len(jobs), filter.Limit-1)]
		if err := f(shown); err != nil {
			return "", err
		}
		most -= len(shown)
		filter.After = shown[len(shown)-1].ID
		switch {
		case len(shown) == len(jobs):
			return "", nil
		case most == 0:
			return filter.After, nil
		}
	}
}

func runQueueList(ctx context.Context, o *queueListOptions, s cli.Streams) error {
	return o.store.look(ctx, func(store retryqueue.Store) error {
		if o.filter.After != "" {
			_, err := store.Get(ctx, o.filter.After)
			if errors.Is(err, retryqueue.ErrUnknownID) {
				return fmt.Errorf("--after: %w: give the last id of the page before", err)
			}
			if err != nil {
				return err
			}
		}
		w := &errWriter{w: s.Out}
		enc := lineEncoder(w)
		var rows []table.Row
		bar := showProgress(s, o.format.Value == "json", -1, "listing")
		defer bar.Close()
		more, err := pages(ctx, store, o.filter, o.limit, func(jobs []retryqueue.Job) error {
			for _, j := range jobs {
				if o.format.Value == "json" {
					if err := errors.Join(enc.Encode(lineOf(j)), w.err); err != nil {
						return err
					}
					continue
				}
				rows = append(rows, table.Row{clip(j.ID, listID), stateInWords(j), fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts), printable(j.LastError)})
			}
			bar.Add(len(jobs))
			return nil
		})
		bar.Close()
		switch {
		case ctx.Err() != nil:
			return cli.Exit(cli.ExitInterrupted, errors.New("interrupted"))
		case err != nil:
			return err
		}
		if o.format.Value == "table" {
			renderList(w, rows)
		}
		if more != "" {
			fmt.Fprintf(s.Err, "there are more: --after %s\n", shellWord(more))
		}
		return w.err
	})
}

// listID is how much of an id list shows.
const listID = 24

// renderList prints rows of id, state, attempts and last error. The last gets what
// the others leave of the width.
func renderList(w io.Writer, rows []table.Row) {
	t := cli.NewTable(w, "id", "state", "attempts", "last error")
	attempts := len("attempts")
	for _, r := range rows {
		attempts = max(attempts, len(fmt.Sprint(r[2])))
	}
	for _, r := range rows {
		r[3] = clip(fmt.Sprint(r[3]), cli.Width-listID-len("dead: exhausted")-attempts-3*len("  "))
		t.AppendRow(r)
	}
	t.Render()
}
