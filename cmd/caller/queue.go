package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/stores"
)

// queueStore is which store the flags name.
type queueStore struct {
	where  string
	schema string
}

const defaultStore = "queue.db"

func newQueue(s cli.Streams) *cobra.Command {
	o := &queueStore{}
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "a durable retry queue: calls that must happen in the end",
		Long: `queue keeps calls that must happen in the end. Each is a job that is written
down before it is sent and tried again until it succeeds, its attempts are spent
or its deadline passes; also when the process dies in between.

The store is a SQLite file or, for several machines, a PostgreSQL database.`,
		Example: `  caller queue init
  caller queue add http://127.0.0.1:8080/ --id order-17 --deadline-in 1h
  caller queue work --once
  caller queue stats
  caller queue prove`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return o.check(cmd) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&o.where, "store", defaultStore, "a file, or postgres://USER@HOST/DB")
	cmd.PersistentFlags().StringVar(&o.schema, "schema", "", "the schema in PostgreSQL (default retryqueue)")
	cmd.AddCommand(
		newQueueInit(s, o),
		newQueueAdd(s, o),
		newQueueWork(s, o),
		newQueueStats(s, o),
		newQueueList(s, o),
		newQueueShow(s, o),
		newQueueRedrive(s, o),
		newQueuePurge(s, o),
		newQueueProve(s, o),
		newQueueProveWorker(s),
	)
	return cmd
}

// check holds what every subcommand wants of --store and --schema.
func (o *queueStore) check(cmd *cobra.Command) error {
	if err := cli.RefuseEmpty(cmd, "store", "schema"); err != nil {
		return err
	}
	if o.schema != "" && !stores.IsPostgres(o.where) {
		return cli.Usagef("--schema: only PostgreSQL has one: give --store postgres://USER@HOST/DB, too")
	}
	return nil
}

// open opens the store, which must be there.
func (o *queueStore) open(ctx context.Context, readOnly bool) (retryqueue.Store, error) {
	store, err := stores.Open(ctx, o.where, stores.Options{Schema: o.schema, ReadOnly: readOnly})
	if errors.Is(err, retryqueue.ErrNoStore) {
		where := o.where
		if stores.IsPostgres(where) {
			where = "postgres://..." // it may hold a password
		}
		where = shellWord(where)
		if o.schema != "" {
			where += " --schema " + o.schema
		}
		return nil, fmt.Errorf("%w; make one with: caller queue init --store %s", err, where)
	}
	return store, err
}

// with opens the store for f and closes it.
func (o *queueStore) with(ctx context.Context, f func(retryqueue.Store) error) error {
	return o.during(ctx, false, f)
}

// look is with for who only reads: it changes nothing and waits for nobody.
func (o *queueStore) look(ctx context.Context, f func(retryqueue.Store) error) error {
	return o.during(ctx, true, f)
}

func (o *queueStore) during(ctx context.Context, readOnly bool, f func(retryqueue.Store) error) error {
	store, err := o.open(ctx, readOnly)
	if err != nil {
		return advised(ctx, err)
	}
	return advised(ctx, errors.Join(f(store), store.Close()))
}

// advised adds to an error of the store what to do about it. What a signal ended
// while it waited for the store was interrupted.
func advised(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted while it waited for the store"))
	}
	if errors.Is(err, retryqueue.ErrAddress) {
		return cli.Usagef("%w", err)
	}
	for _, x := range []struct {
		kind   error
		advice string
	}{
		{retryqueue.ErrNewer, "use the caller that made it or a later one"},
		{retryqueue.ErrReadOnly, "who may write to it and its folder can do this; stats, list and show need not"},
		{retryqueue.ErrFull, "make room and do it again"},
		{retryqueue.ErrBusy, "end who holds it or wait, and do it again"},
	} {
		if errors.Is(err, x.kind) {
			return fmt.Errorf("%w; %s", err, x.advice)
		}
	}
	return err
}

// shellWord returns word as a shell takes it for this one word.
func shellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("%+,-./:=@_", c)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// checkMillis returns an error of usage for a flag whose duration has no whole
// millisecond.
func checkMillis(name string, d time.Duration) error {
	if d < time.Millisecond {
		return cli.Usagef("--%s %v is out of range: at least %v", name, d, time.Millisecond)
	}
	return nil
}

// outlive returns a context that ends grace after ctx does, and a function that
// ends it now.
func outlive(ctx context.Context, grace time.Duration) (context.Context, func()) {
	octx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(grace, cancel)
		context.AfterFunc(octx, func() { t.Stop() })
	})
	return octx, func() { stop(); cancel() }
}

func newQueueInit(s cli.Streams, o *queueStore) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "make the store, if it is not there",
		Example: `  caller queue init
  caller queue init --store orders.db`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := stores.Open(cmd.Context(), o.where, stores.Options{Create: true, Schema: o.schema})
			if err != nil {
				return advised(cmd.Context(), err)
			}
			fmt.Fprintln(s.Err, "the store is ready")
			return store.Close()
		},
	}
}

// nowMillis is the clock of every subcommand.
func nowMillis() retryqueue.Millis { return retryqueue.MillisOf(time.Now()) }

// showProgress shows how far it is, but not between the lines of JSON on a terminal.
func showProgress(s cli.Streams, json bool, total int, what string) *cli.Progress {
	if json && cli.IsTerminal(s.Out) {
		return &cli.Progress{}
	}
	return cli.NewProgress(s.Err, total, what)
}

func lineEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
