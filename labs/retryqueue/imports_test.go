package retryqueue_test

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// Each package of the queue rests on what is named here and, beyond it, on the
// standard library alone. The contract knows no database and no HTTP.
func TestImports(t *testing.T) {
	t.Parallel()
	const own = "chaoslab/labs/retryqueue"
	for dir, allowed := range map[string][]string{
		".":         {"chaoslab/budgetcaller/backoff"},
		"sqlite":    {own, "modernc.org/sqlite", "modernc.org/sqlite/lib"},
		"postgres":  {own, "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgconn", "github.com/jackc/pgx/v5/pgxpool"},
		"stores":    {own, own + "/sqlite", own + "/postgres", "github.com/jackc/pgx/v5/stdlib"},
		"httpsend":  {own, "chaoslab/budgetcaller", "chaoslab/budgetcaller/backoff", "chaoslab/internal/jsonobject"},
		"inbox":     {own},
		"queueprom": {own, "github.com/prometheus/client_golang/prometheus"},
		"prove":     {own, own + "/stores", own + "/httpsend", own + "/inbox", "chaoslab/budgetcaller"},
		// What tests share.
		"storetest":             {own, "chaoslab/budgetcaller/backoff"},
		"../../internal/pgtest": {"chaoslab/internal/skip", "github.com/jackc/pgx/v5"},
	} {
		importcheck.Only(t, dir, allowed...)
	}
}
