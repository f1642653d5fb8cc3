package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"chaoslab/labs/retryqueue"
)

// Dialect is the kind of the receiver's database. The zero value is SQLite.
type Dialect uint8

// The dialects.
const (
	SQLite Dialect = iota
	Postgres
)

// Config sets up an Inbox. Only BusyWait has a default.
type Config struct {
	DB      *sql.DB // holds the effects too; the Inbox does not close it
	Dialect Dialect
	// Keep is how long an id is remembered. At least Horizon.
	Keep time.Duration
	// Horizon is the longest time from handing a job in to its deadline, over all
	// that send here.
	Horizon time.Duration
	// BusyWait is how long to wait for others that hold SQLite's lock. Zero: 10 s.
	BusyWait time.Duration
}

// DefaultBusyWait is how long Do waits for SQLite's lock.
const DefaultBusyWait = 10 * time.Second

// Inbox remembers ids. It is safe for concurrent use, by several processes too.
type Inbox struct {
	db         *sql.DB
	keep, wait time.Duration
	mark       string
	forget     string
}

// New makes the table (inbox_seen) if it is not there. It refuses a memory that
// is shorter than the horizon.
func New(ctx context.Context, cfg Config) (*Inbox, error) {
	switch {
	case cfg.DB == nil:
		return nil, errors.New("inbox: DB: missing")
	case cfg.Horizon <= 0:
		return nil, fmt.Errorf("inbox: Horizon: %v is out of range: above 0", cfg.Horizon)
	case cfg.Keep < cfg.Horizon:
		return nil, fmt.Errorf("inbox: Keep: %v is shorter than the longest job (Horizon: %v): a late repeat would be taken for new", cfg.Keep, cfg.Horizon)
	case cfg.BusyWait < 0:
		return nil, fmt.Errorf("inbox: BusyWait: %v is out of range: not below 0", cfg.BusyWait)
	case cfg.BusyWait == 0:
		cfg.BusyWait = DefaultBusyWait
	}
	x := &Inbox{db: cfg.DB, keep: cfg.Keep, wait: cfg.BusyWait}
	table := `CREATE TABLE IF NOT EXISTS inbox_seen (id TEXT PRIMARY KEY, seen_at BIGINT NOT NULL)`
	switch cfg.Dialect {
	case SQLite:
		x.mark = `INSERT INTO inbox_seen (id, seen_at) VALUES (?, ?) ON CONFLICT DO NOTHING`
		x.forget = `DELETE FROM inbox_seen WHERE seen_at < ?`
	case Postgres:
		x.mark = `INSERT INTO inbox_seen (id, seen_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`
		x.forget = `DELETE FROM inbox_seen WHERE seen_at < $1`
	default:
		return nil, fmt.Errorf("inbox: Dialect: %d is none", cfg.Dialect)
	}
	return x, x.patiently(ctx, func() error {
		_, err := x.db.ExecContext(ctx, table)
		return err
	})
}

// Do runs effect in a transaction together with the mark that id was seen, and
// says whether id had been seen before: then effect is not run. If effect fails,
// nothing is remembered and its error is returned as it is. effect may be run
// again after a conflict with another writer; only one run is kept.
func (x *Inbox) Do(ctx context.Context, now retryqueue.Millis, id string, effect func(context.Context, *sql.Tx) error) (duplicate bool, err error) {
	if id == "" {
		return false, errors.New("inbox: id: empty")
	}
	err = x.patiently(ctx, func() error {
		duplicate, err = x.once(ctx, now, id, effect)
		return err
	})
	return duplicate, err
}

func (x *Inbox) once(ctx context.Context, now retryqueue.Millis, id string, effect func(context.Context, *sql.Tx) error) (bool, error) {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // does nothing after Commit
	// The mark comes first: it takes SQLite's write lock before anything is read,
	// and in PostgreSQL it waits for another that is handling the same id.
	res, err := tx.ExecContext(ctx, x.mark, id, int64(now))
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return err == nil, err
	}
	if err := effect(ctx, tx); err != nil {
		return false, err
	}
	return false, tx.Commit()
}

// Forget drops what was seen longer ago than Keep and returns how many ids that
// were. Nothing is forgotten by itself. A clock that is wrong by far forgets too
// much, so call it with the same clock as Do.
func (x *Inbox) Forget(ctx context.Context, now retryqueue.Millis) (int, error) {
	var n int64
	err := x.patiently(ctx, func() error {
		res, err := x.db.ExecContext(ctx, x.forget, int64(now.Add(-x.keep)))
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	return int(n), err
}

// patiently runs f again while SQLite's lock is held by another.
func (x *Inbox) patiently(ctx context.Context, f func() error) error {
	until := time.Now().Add(x.wait)
	for {
		err := f()
		if !busy(err) || time.Now().After(until) {
			return err
		}
		// A random pause shares the lock evenly.
		t := time.NewTimer(rand.N(time.Millisecond))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// busy says whether err is SQLite's SQLITE_BUSY, whatever the driver's type.
func busy(err error) bool {
	var coded interface{ Code() int }
	return errors.As(err, &coded) && coded.Code()&0xff == 5
}
