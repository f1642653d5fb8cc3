package inbox_test

import (
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"chaoslab/internal/pgtest"
	"chaoslab/labs/retryqueue/inbox"
)

var (
	shared  = &pgtest.Shared{} // stopped by TestMain
	schemas atomic.Int64
)

func postgresReceiver(t *testing.T) *receiver {
	t.Helper()
	schema := fmt.Sprint("test_", schemas.Add(1))
	db, err := sql.Open("pgx", shared.URL(t)+"&search_path="+schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	return newReceiver(t, db, inbox.Postgres)
}

func TestQ6SeenBeforeOrNotPostgres(t *testing.T) {
	t.Parallel()
	shared.URL(t) // skip once, not five times
	seenBefore(t, postgresReceiver)
}
