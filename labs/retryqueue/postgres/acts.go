package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"chaoslab/labs/retryqueue"
)

// Redrive implements retryqueue.Store.
func (s *Store) Redrive(ctx context.Context, a retryqueue.Act) (retryqueue.Job, error) {
	var j retryqueue.Job
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var err error
		j, err = job(tx.QueryRow(ctx, `SELECT `+columns+` FROM jobs WHERE id = $1 FOR UPDATE`, a.ID))
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			err = retryqueue.ErrUnknownID
		case err != nil:
		case j.State != retryqueue.Dead:
			err = fmt.Errorf("%w but %v", retryqueue.ErrNotDead, j.State)
		case j.Purged:
			err = retryqueue.ErrPurged
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO acts (id, at, by, more_attempts, old_reason, old_deadline, deadline) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			a.ID, int64(a.At), a.By, a.MoreAttempts, int16(j.Reason), int64(j.Deadline), int64(a.Deadline))
		if err != nil {
			return err
		}
		j, err = job(tx.QueryRow(ctx, `UPDATE jobs SET state = 0, reason = 0, finished_at = NULL, due_at = $2, deadline = $3, max_attempts = max_attempts + $4 WHERE id = $1 RETURNING `+columns,
			a.ID, int64(a.At), int64(a.Deadline), a.MoreAttempts))
		return err
	})
	if err != nil {
		return retryqueue.Job{}, fmt.Errorf("job %s: %w", a.ID, err)
	}
	return j, nil
}

// purgeAtOnce is how many rows one transaction of Purge looks through, so that
// no lock is held for long.
const purgeAtOnce = 5000

// Purge implements retryqueue.Store.
func (s *Store) Purge(ctx context.Context, before retryqueue.Millis) (int, error) {
	total, after := 0, int64(0)
	for {
		var last *int64
		var n int64
		err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
			err := tx.QueryRow(ctx, `SELECT max(seq) FROM (SELECT seq FROM jobs WHERE seq > $1 ORDER BY seq LIMIT $2) AS s`, after, purgeAtOnce).Scan(&last)
			if err != nil || last == nil {
				return err
			}
			tag, err := tx.Exec(ctx, `UPDATE jobs SET payload = NULL WHERE seq > $1 AND seq <= $2 AND finished_at < $3 AND payload IS NOT NULL`, after, *last, int64(before))
			n = tag.RowsAffected()
			return err
		})
		if err != nil || last == nil {
			return total, err
		}
		total, after = total+int(n), *last
	}
}
