//go:build !noqueue

package stores

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
	"chaoslab/labs/retryqueue/sqlite"
)

func openFile(ctx context.Context, path string, o Options) (retryqueue.Store, error) {
	return sqlite.Open(ctx, path, sqlite.Options{Create: o.Create, Normal: o.Normal, ReadOnly: o.ReadOnly})
}

func openPostgres(ctx context.Context, where string, o Options) (retryqueue.Store, error) {
	return postgres.Open(ctx, where, postgres.Options{Create: o.Create, Schema: o.Schema, ReadOnly: o.ReadOnly})
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

// NewFile makes a SQLite file that is no store, with the pragmas given: it is for
// what stands beside a store, such as a receiver's inbox.
func NewFile(path string, pragmas ...string) (*sql.DB, error) {
	return sql.Open("sqlite", sqlite.DSN(path, "rwc", pragmas...))
}
