// Package stores opens a retry queue's store by its address, so that commands
// and tests need not know which kind it is:
//
//	store, err := stores.Open(ctx, "queue.db", stores.Options{})
//	store, err := stores.Open(ctx, "postgres://user@host/db", stores.Options{Schema: "retryqueue"})
//
// It leaves out every setting that only one kind has, but the schema.
package stores

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
	"chaoslab/labs/retryqueue/sqlite"
)

// Options say how to open a store. The zero value opens one that is there.
type Options struct {
	Create bool   // make it if it is not there
	Schema string // of PostgreSQL; empty: postgres.DefaultSchema
	Normal bool   // SQLite with synchronous=NORMAL
}

// IsPostgres says whether an address is that of a PostgreSQL database; any other
// is the path of a SQLite file.
func IsPostgres(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// Open opens the store at where. The errors are those of the packages sqlite and
// postgres.
func Open(ctx context.Context, where string, o Options) (retryqueue.Store, error) {
	switch {
	case where == "":
		return nil, errors.New("store: empty: give a file or postgres://…")
	case IsPostgres(where):
		return postgres.Open(ctx, where, postgres.Options{Create: o.Create, Schema: o.Schema})
	case o.Schema != "":
		return nil, errors.New("schema: only PostgreSQL has one")
	}
	return sqlite.Open(ctx, where, sqlite.Options{Create: o.Create, Normal: o.Normal})
}

// DB opens the database under a store, for who looks at it from outside.
func DB(where, schema string) (*sql.DB, error) {
	if !IsPostgres(where) {
		return sql.Open("sqlite", sqlite.DSN(where, "rw", "busy_timeout(10000)"))
	}
	if schema == "" {
		schema = postgres.DefaultSchema
	}
	u, err := url.Parse(where)
	if err != nil {
		return nil, errors.New("store: the address is no URL")
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return sql.Open("pgx", u.String())
}
