package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"chaoslab/internal/pgtest"
	"chaoslab/labs/retryqueue/postgres"
)

// server starts a PostgreSQL that waits for the disk, nil if there is none.
func (b *bench) server() (*pgtest.Server, error) {
	s, err := pgtest.Start(b.ctx, "fsync=on", "synchronous_commit=on", "shared_buffers=256MB", "max_wal_size=4GB")
	if errors.Is(err, pgtest.ErrMissing) {
		fmt.Printf("  left out: %v\n", err)
		return nil, nil
	}
	return s, err
}

func (b *bench) postgres() error {
	s, err := b.server()
	if s == nil || err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	store, err := postgres.Open(b.ctx, s.URL, postgres.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()
	o := &ours{store: store}
	r, err := newRiver(b.ctx, s.URL)
	if err != nil {
		return err
	}
	defer r.pool.Close()
	err = b.race("River, 4 workers, fetch 1 ms", []contestant{
		{"River, 4 workers, fetch 1 ms", b.jobs(3000), r.work(b.ctx, 4)},
		{"Work, 1 worker, one job a claim", b.jobs(3000), o.work(b.ctx, 1, 1)},
		{"Work, 4 workers, one job a claim", b.jobs(6000), o.work(b.ctx, 4, 1)},
	})
	if err != nil {
		return err
	}
	fmt.Println()
	return b.race("River, 100 workers, fetch 1 ms", []contestant{
		{"River, 100 workers, fetch 1 ms", b.jobs(20_000), r.work(b.ctx, 100)},
		{"Work, 4 workers, batches of 16", b.jobs(20_000), o.work(b.ctx, 4, 16)},
		{"Work, 4 workers, batches of 32", b.jobs(20_000), o.work(b.ctx, 4, 32)},
	})
}

type riverArgs struct {
	Payload []byte `json:"payload"`
}

func (riverArgs) Kind() string { return "nothing" }

type riverWorker struct {
	river.WorkerDefaults[riverArgs]
}

func (*riverWorker) Work(context.Context, *river.Job[riverArgs]) error { return nil }

// riverQueue is River in a schema of its own.
type riverQueue struct {
	pool *pgxpool.Pool
}

func newRiver(ctx context.Context, url string) (*riverQueue, error) {
	pool, err := pgxpool.New(ctx, url+"&pool_max_conns=20")
	if err != nil {
		return nil, err
	}
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return &riverQueue{pool}, err
}

// work does n jobs with River. The time runs from the start of the client, which
// is what a worker does for each of its jobs, until the last is completed.
func (r *riverQueue) work(ctx context.Context, workers int) func(int) (time.Duration, error) {
	return func(n int) (time.Duration, error) {
		all := river.NewWorkers()
		river.AddWorker(all, &riverWorker{})
		c, err := river.NewClient(riverpgxv5.New(r.pool), &river.Config{
			Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
			Workers:           all,
			FetchCooldown:     time.Millisecond,
			FetchPollInterval: time.Millisecond,
			Logger:            slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return 0, err
		}
		args := make([]river.InsertManyParams, 0, 1000)
		for left := n; left > 0; left -= len(args) {
			args = args[:0]
			for range min(left, 1000) {
				args = append(args, river.InsertManyParams{Args: riverArgs{make([]byte, 150)}}) // 200 bytes in base64
			}
			if _, err := c.InsertManyFast(ctx, args); err != nil {
				return 0, err
			}
		}
		events, cancel := c.SubscribeConfig(&river.SubscribeConfig{Kinds: []river.EventKind{river.EventKindJobCompleted}, ChanSize: n + 1000})
		defer cancel()
		start := time.Now()
		if err := c.Start(ctx); err != nil {
			return 0, err
		}
		for range n {
			select {
			case <-events:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		took := time.Since(start)
		return took, c.Stop(ctx)
	}
}

// stats measures Stats beside many jobs: half of them pending, half done.
func (b *bench) stats() error {
	o, err := b.openSQLite(b.file(), true)
	if err != nil {
		return err
	}
	defer o.store.Close()
	if err := b.timeStats("SQLite", o); err != nil {
		return err
	}
	s, err := b.server()
	if s == nil || err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	store, err := postgres.Open(b.ctx, s.URL, postgres.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := b.timeStats("PostgreSQL", &ours{store: store}); err != nil {
		return err
	}
	// Counting the rows instead, for comparison.
	conn, err := pgx.Connect(b.ctx, s.URL)
	if err != nil {
		return err
	}
	defer conn.Close(b.ctx)
	start := time.Now()
	var n int
	if err := conn.QueryRow(b.ctx, `SELECT count(*) FROM (SELECT state, reason FROM retryqueue.jobs GROUP BY state, reason) AS s`).Scan(&n); err != nil {
		return err
	}
	fmt.Printf("  PostgreSQL, counting the rows instead: %.1f ms\n", time.Since(start).Seconds()*1000)
	return nil
}

func (b *bench) timeStats(name string, o *ours) error {
	if _, err := o.work(b.ctx, 1, 256)(b.large / 2); err != nil {
		return err
	}
	if err := o.add(b.ctx, b.large-b.large/2, 0); err != nil {
		return err
	}
	var took []float64
	for range 20 * b.rounds {
		start := time.Now()
		if _, err := o.store.Stats(b.ctx, now()); err != nil {
			return err
		}
		took = append(took, time.Since(start).Seconds()*1000)
	}
	fmt.Printf("  %s, %d jobs: p50 %.2f ms, max %.2f ms\n", name, b.large, median(took), slices.Max(took))
	return nil
}
