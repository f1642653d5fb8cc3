package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"chaoslab/labs/retryqueue"
)

// Redrive implements retryqueue.Store.
func (s *Store) Redrive(ctx context.Context, acts []retryqueue.Act) ([]retryqueue.Redriven, error) {
	var out []retryqueue.Redriven
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		out = make([]retryqueue.Redriven, 0, len(acts))
		for _, a := range acts {
			j, err := w.redrive(ctx, a)
			if err != nil && !retryqueue.AboutJob(err) {
				return fmt.Errorf("job %s: %w", a.ID, err)
			}
			out = append(out, retryqueue.Redriven{Job: j, Err: err})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// redrive changes nothing if its error is about the job.
func (w *writer) redrive(ctx context.Context, a retryqueue.Act) (retryqueue.Job, error) {
	j, err := job(w.conn.QueryRowContext(ctx, `SELECT `+bare+` FROM jobs WHERE id = ?`, a.ID))
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("job %s: %w", a.ID, retryqueue.ErrUnknownID)
	}
	if err == nil {
		err = j.Refuses()
	}
	if err != nil {
		return retryqueue.Job{}, err
	}
	_, err = w.conn.ExecContext(ctx, `INSERT INTO acts (id, at, by, more_attempts, old_reason, old_deadline, deadline) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		a.ID, int64(a.At), a.By, a.MoreAttempts, int(j.Reason), int64(j.Deadline), int64(a.Deadline))
	if err != nil {
		return retryqueue.Job{}, err
	}
	return job(w.conn.QueryRowContext(ctx, `UPDATE jobs SET state = 0, reason = 0, finished_at = NULL, due_at = ?2, deadline = ?3, max_attempts = max_attempts + ?4 WHERE id = ?1 RETURNING `+bare,
		a.ID, int64(a.At), int64(a.Deadline), a.MoreAttempts))
}

// purgeAtOnce is how many rows one transaction of Purge looks through, so that
// workers need not wait long.
const purgeAtOnce = 5000

// Purge implements retryqueue.Store.
func (s *Store) Purge(ctx context.Context, before retryqueue.Millis, told func(looked int)) (int, error) {
	total, after := 0, int64(0)
	for {
		var last sql.NullInt64
		var n, looked int64
		err := s.write(ctx, func(ctx context.Context, w *writer) error {
			err := w.conn.QueryRowContext(ctx, `SELECT max(seq), count(*) FROM (SELECT seq FROM jobs WHERE seq > ? ORDER BY seq LIMIT ?)`, after, purgeAtOnce).Scan(&last, &looked)
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
		if told != nil {
			told(int(looked))
		}
	}
}
