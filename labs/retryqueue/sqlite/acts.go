package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"chaoslab/labs/retryqueue"
)

// Redrive implements retryqueue.Store.
func (s *Store) Redrive(ctx context.Context, a retryqueue.Act) (retryqueue.Job, error) {
	var j retryqueue.Job
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		var err error
		j, err = job(w.conn.QueryRowContext(ctx, `SELECT `+columns+` FROM jobs WHERE id = ?`, a.ID))
		switch {
		case errors.Is(err, sql.ErrNoRows):
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
		_, err = w.conn.ExecContext(ctx, `INSERT INTO acts (id, at, by, more_attempts, old_reason, old_deadline, deadline) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			a.ID, int64(a.At), a.By, a.MoreAttempts, int(j.Reason), int64(j.Deadline), int64(a.Deadline))
		if err != nil {
			return err
		}
		j, err = job(w.conn.QueryRowContext(ctx, `UPDATE jobs SET state = 0, reason = 0, finished_at = NULL, due_at = ?2, deadline = ?3, max_attempts = max_attempts + ?4 WHERE id = ?1 RETURNING `+columns,
			a.ID, int64(a.At), int64(a.Deadline), a.MoreAttempts))
		return err
	})
	if err != nil {
		return retryqueue.Job{}, fmt.Errorf("job %s: %w", a.ID, err)
	}
	return j, nil
}

// purgeAtOnce is how many rows one transaction of Purge looks through, so that
// workers need not wait long.
const purgeAtOnce = 5000

// Purge implements retryqueue.Store.
func (s *Store) Purge(ctx context.Context, before retryqueue.Millis) (int, error) {
	total, after := 0, int64(0)
	for {
		var last sql.NullInt64
		var n int64
		err := s.write(ctx, func(ctx context.Context, w *writer) error {
			err := w.conn.QueryRowContext(ctx, `SELECT max(seq) FROM (SELECT seq FROM jobs WHERE seq > ? ORDER BY seq LIMIT ?)`, after, purgeAtOnce).Scan(&last)
			if err != nil || !last.Valid {
				return err
			}
			n, err = affected(w.conn.ExecContext(ctx, `UPDATE jobs SET payload = NULL WHERE seq > ? AND seq <= ? AND finished_at < ? AND payload IS NOT NULL`, after, last.Int64, int64(before)))
			return err
		})
		if err != nil || !last.Valid {
			return total, err
		}
		total, after = total+int(n), last.Int64
	}
}
