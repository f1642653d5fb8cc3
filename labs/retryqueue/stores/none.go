//go:build noqueue

package stores

import (
	"context"
	"database/sql"
	"errors"

	"chaoslab/labs/retryqueue"
)

// errLeftOut is what every store says in a build with the tag noqueue. The tag
// spares who only wants to see the rest the drivers of two databases: a third of
// the work of a first build, and most of what is fetched for it.
var errLeftOut = errors.New("no store in this build (-tags noqueue); for one with it: go install ./cmd/... in the clone")

func openFile(context.Context, string, Options) (retryqueue.Store, error) { return nil, errLeftOut }

func openPostgres(context.Context, string, Options) (retryqueue.Store, error) { return nil, errLeftOut }

// DB returns an error: see errLeftOut.
func DB(string, string) (*sql.DB, error) { return nil, errLeftOut }

// NewFile returns an error: see errLeftOut.
func NewFile(string, ...string) (*sql.DB, error) { return nil, errLeftOut }
