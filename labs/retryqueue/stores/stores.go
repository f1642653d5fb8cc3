// Package stores opens a retry queue's store by its address, so that commands
// and tests need not know which kind it is:
//
//	store, err := stores.Open(ctx, "queue.db", stores.Options{})
//	store, err := stores.Open(ctx, "postgres://user@host/db", stores.Options{Schema: "retryqueue"})
//
// Who only looks (Get, List, Acts, Stats, Check) opens it with ReadOnly: that
// makes nothing, changes nothing, waits for no writer and works where nothing may
// be written; every other method is refused with retryqueue.ErrReadOnly.
//
//	store, err := stores.Open(ctx, where, stores.Options{ReadOnly: true})
//
// It leaves out every setting that only one kind has, but the schema. In a build
// with -tags noqueue it leaves out the stores themselves: every address is refused.
package stores

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"chaoslab/labs/retryqueue"
)

// Options say how to open a store. The zero value opens one that is there.
type Options struct {
	Create   bool   // make it if it is not there
	Schema   string // of PostgreSQL; empty: postgres.DefaultSchema
	Normal   bool   // SQLite with synchronous=NORMAL
	ReadOnly bool   // only to look; not with Create or Normal
}

// IsPostgres says whether an address is that of a PostgreSQL database; any other
// is the path of a SQLite file.
func IsPostgres(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// isWords says whether where looks like what PostgreSQL's own programs also take
// for an address.
func isWords(where string) bool {
	return regexp.MustCompile(`(^|\s)(host|hostaddr|port|dbname|user|password|service)\s*=`).MatchString(where)
}

// Open opens the store at where. The errors are those of the packages sqlite and
// postgres; an address of any other kind is retryqueue.ErrAddress, not taken for a
// file.
func Open(ctx context.Context, where string, o Options) (retryqueue.Store, error) {
	switch {
	case where == "":
		return nil, fmt.Errorf("store: %w: empty: give a file or postgres://USER@HOST/DB", retryqueue.ErrAddress)
	case o.ReadOnly && (o.Create || o.Normal):
		return nil, errors.New("store: ReadOnly does not go with Create and Normal")
	case IsPostgres(where):
		return openPostgres(ctx, where, o)
	case isWords(where): // it may hold a password: not repeated
		return nil, fmt.Errorf("store: %w: key=value words: give a file or postgres://USER@HOST/DB", retryqueue.ErrAddress)
	case strings.Contains(where, "://"):
		scheme, _, _ := strings.Cut(where, "://")
		return nil, fmt.Errorf("store: %w: %s://: give a file or postgres://USER@HOST/DB", retryqueue.ErrAddress, scheme)
	case o.Schema != "":
		return nil, errors.New("schema: only PostgreSQL has one")
	}
	return openFile(ctx, where, o)
}
