package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"chaoslab/labs/retryqueue"
)

// Options say how to open a store. The zero value opens the one that is there.
type Options struct {
	// Create makes the schema if it is not there.
	Create bool
	// Schema holds the tables. Empty: DefaultSchema.
	Schema string
	// BusyWait is how long to wait for a lock that others hold, before
	// retryqueue.ErrBusy. Zero: 10 s.
	BusyWait time.Duration
}

// The defaults of Options.
const (
	DefaultSchema   = "retryqueue"
	DefaultBusyWait = 10 * time.Second
)

var _ retryqueue.Store = (*Store)(nil)

// Store is a retry queue's store in a PostgreSQL schema. Close it to release its
// connections.
type Store struct {
	pool     *pgxpool.Pool
	name     string // without a password
	schema   string
	busyWait time.Duration
}

// Open connects to url (postgres://…, or key=value words) and opens the store
// there. Errors: retryqueue.ErrNoStore, ErrNotOurs, ErrNewer, ErrReadOnly,
// ErrBusy, wrapped with the server's name. What is not ours is left as it was.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	if !regexp.MustCompile(`^[a-z_][a-z0-9_]{0,50}$`).MatchString(o.Schema) {
		return nil, fmt.Errorf("schema: %q: lower case letters, digits and _ only", o.Schema)
	}
	if o.BusyWait == 0 {
		o.BusyWait = DefaultBusyWait
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("store: the address is not that of a PostgreSQL database: %w", err)
	}
	c := cfg.ConnConfig
	c.RuntimeParams["search_path"] = o.Schema
	c.RuntimeParams["lock_timeout"] = strconv.FormatInt(o.BusyWait.Milliseconds(), 10)
	c.RuntimeParams["application_name"] = "retryqueue"
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = o.BusyWait
	}
	s := &Store{
		name:     fmt.Sprintf("%s/%s schema %s", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database, o.Schema),
		schema:   o.Schema,
		busyWait: o.BusyWait,
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, s.explain(err)
	}
	if err := s.mark(ctx, o.Create); err != nil {
		s.pool.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// mark makes sure that the schema is a store of this version, and makes it if it
// is not there and create is set.
func (s *Store) mark(ctx context.Context, create bool) error {
	return s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		// One process at a time: two would collide in the catalogue.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('retryqueue ' || $1))`, s.schema); err != nil {
			return err
		}
		var comment string
		err := tx.QueryRow(ctx, `SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1`, s.schema).Scan(&comment)
		if errors.Is(err, pgx.ErrNoRows) {
			if !create {
				return retryqueue.ErrNoStore
			}
			_, err := tx.Exec(ctx, fmt.Sprintf("CREATE SCHEMA %s; COMMENT ON SCHEMA %[1]s IS '%s%d'; %s", s.schema, mark, version, schema))
			return err
		}
		if err != nil {
			return err
		}
		text, ok := strings.CutPrefix(comment, mark)
		v, err := strconv.Atoi(text)
		switch {
		case !ok || err != nil || v < 1:
			return fmt.Errorf("%w: somebody else's schema", retryqueue.ErrNotOurs)
		case v > version:
			return fmt.Errorf("%w: its schema is %d, this program knows %d", retryqueue.ErrNewer, v, version)
		}
		return nil
	})
}

// Close releases the connections. No method may be under way.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// patience is how often a transaction is tried again that PostgreSQL ended for
// the sake of another (deadlock, serialization).
const patience = 10

// opTimeout bounds one operation once it has begun.
const opTimeout = 60 * time.Second

// again runs f until PostgreSQL does not ask to run it again. Once begun, ctx
// does not end it: cut off in its middle, a claim could be lost with its attempt
// spent.
func (s *Store) again(ctx context.Context, f func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	octx, cancel := context.WithTimeout(context.WithoutCancel(ctx), opTimeout)
	defer cancel()
	for n := 0; ; n++ {
		err := f(octx)
		if c := code(err); n == patience || c != "40001" && c != "40P01" || ctx.Err() != nil {
			return s.explain(err)
		}
	}
}

func (s *Store) transact(ctx context.Context, f func(context.Context, pgx.Tx) error) error {
	return s.again(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return f(ctx, tx) })
	})
}

// code is PostgreSQL's SQLSTATE, empty if err is not the server's.
func code(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// storeError is an error with the store that it is about.
type storeError struct {
	name string
	err  error
}

func (e *storeError) Error() string {
	// The driver reports one line a server address.
	return fmt.Sprintf("store %s: %s", e.name, strings.Join(strings.Fields(e.err.Error()), " "))
}

func (e *storeError) Unwrap() error { return e.err }

// explain says what the server's code means for who uses the store.
func (s *Store) explain(err error) error {
	if err == nil || retryqueue.AboutJob(err) {
		return err
	}
	if e := (*storeError)(nil); errors.As(err, &e) {
		return err
	}
	switch code(err) {
	case "55P03":
		err = fmt.Errorf("%w (waited %v)", retryqueue.ErrBusy, s.busyWait)
	case "25006":
		err = retryqueue.ErrReadOnly
	case "53100":
		err = retryqueue.ErrFull
	}
	return &storeError{s.name, err}
}
