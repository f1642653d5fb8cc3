package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
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
	// ReadOnly opens it for looking only: nothing is locked or written, and what
	// would write is refused with retryqueue.ErrReadOnly.
	ReadOnly bool
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
	lines    *lines
	name     string // without a password
	schema   string
	busyWait time.Duration
	groups   groups
	head     head
	claims   atomic.Int64
	life     context.Context //nolint:containedctx // until Close
	end      context.CancelFunc
}

// Open connects to url (postgres://…, or key=value words) and opens the store
// there. Errors: retryqueue.ErrAddress, ErrNoStore, ErrNotOurs, ErrNewer,
// ErrReadOnly, ErrBusy, wrapped with the server's name. What is not ours is left as
// it was.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	if !regexp.MustCompile(`^[a-z_][a-z0-9_]{0,50}$`).MatchString(o.Schema) {
		return nil, fmt.Errorf("store: %w: schema %q: lower case letters, digits and _ only", retryqueue.ErrAddress, o.Schema)
	}
	if o.BusyWait == 0 {
		o.BusyWait = DefaultBusyWait
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("store: %w: not that of a PostgreSQL database: %w", retryqueue.ErrAddress, err)
	}
	c := cfg.ConnConfig
	c.RuntimeParams["search_path"] = o.Schema
	c.RuntimeParams["lock_timeout"] = strconv.FormatInt(o.BusyWait.Milliseconds(), 10)
	c.RuntimeParams["application_name"] = "retryqueue"
	c.RuntimeParams[counted] = "on"
	// Every statement here walks down an index to a few rows. On a table that has
	// grown since it was last analyzed the planner would read all of it instead.
	for _, way := range []string{"seqscan", "bitmapscan", "hashjoin", "mergejoin"} {
		c.RuntimeParams["enable_"+way] = "off"
	}
	c.RuntimeParams["jit"] = "off" // it takes longer than any of them
	// And not think of another way each time, for a limit that it does not know.
	c.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = o.BusyWait
	}
	if o.ReadOnly {
		c.RuntimeParams["default_transaction_read_only"] = "on"
	}
	s := &Store{
		lines:    newLines(c),
		name:     fmt.Sprintf("%s/%s schema %s", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database, o.Schema),
		schema:   o.Schema,
		busyWait: o.BusyWait,
	}
	s.life, s.end = context.WithCancel(context.Background())
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		s.end()
		return nil, s.explain(err)
	}
	if o.ReadOnly {
		err = s.read(ctx, func(ctx context.Context) error {
			_, err := s.known(ctx, s.pool)
			return err
		})
	} else {
		err = s.mark(ctx, o.Create)
	}
	if err != nil {
		return nil, errors.Join(s.explain(err), s.Close())
	}
	return s, nil
}

// mark makes sure that the schema is a store of this version: an older one becomes
// one of this, and where there is none, one is made if create is set.
func (s *Store) mark(ctx context.Context, create bool) error {
	return s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		// One process at a time: two would collide in the catalogue.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('retryqueue ' || $1))`, s.schema); err != nil {
			return err
		}
		v, err := s.known(ctx, tx)
		switch {
		case err == nil && v < version:
			_, err = tx.Exec(ctx, fmt.Sprintf("COMMENT ON SCHEMA %s IS '%s%d'; %s", s.schema, mark, version, upgrade))
			return err
		case !create || !errors.Is(err, retryqueue.ErrNoStore):
			return err
		}
		_, err = tx.Exec(ctx, fmt.Sprintf("CREATE SCHEMA %s; COMMENT ON SCHEMA %[1]s IS '%s%d'; %s", s.schema, mark, version, schema))
		return err
	})
}

// known makes sure that the schema is there and is a store that this program
// understands, and returns its version.
func (s *Store) known(ctx context.Context, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
},
) (int, error) {
	var comment string
	err := q.QueryRow(ctx, `SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1`, s.schema).Scan(&comment)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, retryqueue.ErrNoStore
	}
	if err != nil {
		return 0, err
	}
	text, ok := strings.CutPrefix(comment, mark)
	v, err := strconv.Atoi(text)
	switch {
	case !ok || err != nil || v < 1:
		return 0, fmt.Errorf("%w: somebody else's schema", retryqueue.ErrNotOurs)
	case v > version:
		return 0, fmt.Errorf("%w: its schema is %d, this program knows %d", retryqueue.ErrNewer, v, version)
	}
	return v, nil
}
