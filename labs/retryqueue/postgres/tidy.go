package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// tidyEvery is after how many claims tidy looks.
const tidyEvery = 512

// sqlOldest finds the pending job that was added first.
const sqlOldest = `SELECT enqueued_at FROM jobs WHERE finished_at IS NULL AND state = 0 ORDER BY enqueued_at LIMIT 1`

// tidy is told how many jobs have just been claimed, and now and then asks what
// Stats asks: the entries that claims leave behind in an index are marked by the
// first who comes past them (and cleared by the next vacuum). Left to Stats alone,
// it would take half a second after half a million jobs.
func (s *Store) tidy(ctx context.Context, claimed int) {
	n := int64(claimed)
	if now := s.claims.Add(n); now/tidyEvery == (now-n)/tidyEvery {
		return
	}
	// If it fails, the next Take meets the trouble.
	_ = s.again(ctx, false, func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, sqlOldest)
		return err
	})
}
