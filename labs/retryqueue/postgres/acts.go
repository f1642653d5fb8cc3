package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"chaoslab/labs/retryqueue"
)

// Redrive implements retryqueue.Store.
func (s *Store) Redrive(ctx context.Context, acts []retryqueue.Act) ([]retryqueue.Redriven, error) {
	at := make([]retryqueue.Millis, len(acts))
	for i, a := range acts {
		at[i] = a.At
	}
	defer s.head.put(at...)
	var out []retryqueue.Redriven
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var err error
		out, err = redrive(ctx, tx, acts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func redrive(ctx context.Context, tx pgx.Tx, acts []retryqueue.Act) ([]retryqueue.Redriven, error) {
	ids := make([]string, len(acts))
	for i, a := range acts {
		ids[i] = a.ID
	}
	// By id, so that two who redrive the same jobs do not wait for each other
	// crosswise.
	was, err := jobsByID(ctx, tx, `SELECT `+bare+` FROM jobs WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
	if err != nil {
		return nil, err
	}
	out := make([]retryqueue.Redriven, len(acts))
	var b pgx.Batch
	b.Queue(sqlCountRows)
	for i, a := range acts {
		j, known := was[a.ID]
		if !known {
			out[i].Err = fmt.Errorf("job %s: %w", a.ID, retryqueue.ErrUnknownID)
			continue
		}
		if out[i].Err = j.Refuses(); out[i].Err != nil {
			continue
		}
		b.Queue(`INSERT INTO acts (id, at, by, more_attempts, old_reason, old_deadline, deadline) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			a.ID, int64(a.At), a.By, a.MoreAttempts, int16(j.Reason), int64(j.Deadline), int64(a.Deadline))
		b.Queue(`UPDATE jobs SET state = 0, reason = 0, finished_at = NULL, due_at = $2, deadline = $3, max_attempts = max_attempts + $4 WHERE id = $1 RETURNING `+bare,
			a.ID, int64(a.At), int64(a.Deadline), a.MoreAttempts).QueryRow(func(row pgx.Row) (err error) {
			out[i].Job, _, err = job(row)
			return err
		})
		j.State = retryqueue.Pending // should it be named twice
		was[a.ID] = j
	}
	if b.Len() == 1 {
		return out, nil
	}
	return out, tx.SendBatch(ctx, &b).Close()
}

func jobsByID(ctx context.Context, tx pgx.Tx, sql string, args ...any) (map[string]retryqueue.Job, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]retryqueue.Job{}
	for rows.Next() {
		j, _, err := job(rows)
		if err != nil {
			return nil, err
		}
		all[j.ID] = j
	}
	return all, rows.Err()
}

// purgeAtOnce is how many rows one transaction of Purge looks through, so that
// no lock is held for long.
const purgeAtOnce = 5000

// Purge implements retryqueue.Store.
func (s *Store) Purge(ctx context.Context, before retryqueue.Millis, told func(looked int)) (int, error) {
	total, after := 0, int64(0)
	for {
		var last *int64
		var n, looked int64
		err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
			err := tx.QueryRow(ctx, `SELECT max(seq), count(*) FROM (SELECT seq FROM jobs WHERE seq > $1 ORDER BY seq LIMIT $2) AS s`, after, purgeAtOnce).Scan(&last, &looked)
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
		if told != nil {
			told(int(looked))
		}
	}
}
