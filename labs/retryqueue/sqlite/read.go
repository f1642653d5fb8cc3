package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"chaoslab/labs/retryqueue"
)

// Get implements retryqueue.Store.
func (s *Store) Get(ctx context.Context, id string) (retryqueue.Job, error) {
	if err := retryqueue.CheckID(id); err != nil {
		return retryqueue.Job{}, err
	}
	var j retryqueue.Job
	err := s.read(func(db *sql.DB) (err error) {
		j, err = job(db.QueryRowContext(ctx, `SELECT `+columns+` FROM jobs WHERE id = ?`, id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return retryqueue.Job{}, fmt.Errorf("job %s: %w", id, retryqueue.ErrUnknownID)
	}
	return j, err
}

// List implements retryqueue.Store.
func (s *Store) List(ctx context.Context, f retryqueue.Filter) ([]retryqueue.Job, error) {
	if f.After != "" {
		if err := retryqueue.CheckID(f.After); err != nil {
			return nil, fmt.Errorf("after: %w", err)
		}
	}
	if f.Limit <= 0 {
		f.Limit = retryqueue.DefaultLimit
	}
	text := `SELECT ` + bare + ` FROM jobs WHERE seq > coalesce((SELECT seq FROM jobs WHERE id = ?), 0)`
	args := []any{f.After}
	if len(f.States) > 0 {
		text += ` AND state IN (?` + strings.Repeat(", ?", len(f.States)-1) + `)`
		for _, st := range f.States {
			args = append(args, int(st))
		}
	}
	if len(f.Reasons) > 0 {
		text += ` AND reason IN (?` + strings.Repeat(", ?", len(f.Reasons)-1) + `)`
		for _, r := range f.Reasons {
			args = append(args, int(r))
		}
	}
	args = append(args, f.Limit)
	var list []retryqueue.Job
	err := s.read(func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, text+` ORDER BY seq LIMIT ?`, args...)
		list, err = jobs(rows, err)
		return err
	})
	return list, err
}

// Acts implements retryqueue.Store.
func (s *Store) Acts(ctx context.Context, id string) ([]retryqueue.Act, error) {
	if err := retryqueue.CheckID(id); err != nil {
		return nil, err
	}
	var out []retryqueue.Act
	err := s.read(func(db *sql.DB) error {
		out = nil
		rows, err := db.QueryContext(ctx, `SELECT id, at, by, more_attempts, deadline, old_deadline, old_reason FROM acts WHERE id = ? ORDER BY seq`, id)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var a retryqueue.Act
			if err := rows.Scan(&a.ID, &a.At, &a.By, &a.MoreAttempts, &a.Deadline, &a.OldDeadline, &a.OldReason); err != nil {
				return err
			}
			out = append(out, a)
		}
		return rows.Err()
	})
	return out, err
}

// sqlStats reads counters and the heads of two indexes: its cost depends on how
// many jobs are leased, not on how many there are.
const sqlStats = `SELECT pending, leased, done, deadline, exhausted, permanent, attempts, lost,
  coalesce((SELECT enqueued_at FROM jobs INDEXED BY jobs_enqueued WHERE finished_at IS NULL AND state = 0 ORDER BY enqueued_at LIMIT 1), 0),
  coalesce((SELECT due_at FROM jobs INDEXED BY jobs_due WHERE finished_at IS NULL AND state = 0 AND due_at <= ? ORDER BY due_at LIMIT 1), 0)
FROM counts`

// Stats implements retryqueue.Store.
func (s *Store) Stats(ctx context.Context, now retryqueue.Millis) (retryqueue.Stats, error) {
	st := retryqueue.Stats{At: now}
	err := s.read(func(db *sql.DB) error {
		return db.QueryRowContext(ctx, sqlStats, int64(now)).Scan(&st.Pending, &st.Leased, &st.Done, &st.DeadDeadline, &st.DeadExhausted, &st.DeadPermanent, &st.Attempts, &st.LeasesLost, &st.OldestAdded, &st.OldestDue)
	})
	return st, err
}

// Check implements retryqueue.Store: SQLite's own integrity check, and the counts
// against the rows.
func (s *Store) Check(ctx context.Context) error {
	var verdict, counted, kept string
	err := s.read(func(db *sql.DB) error {
		if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil || verdict != "ok" {
			return err
		}
		return db.QueryRowContext(ctx, `SELECT
  (SELECT concat_ws(' ', coalesce(sum(state = 0), 0), coalesce(sum(state = 1), 0), coalesce(sum(state = 2), 0), coalesce(sum(reason = 1), 0), coalesce(sum(reason = 2), 0),
     coalesce(sum(reason = 3), 0), coalesce(sum(attempts), 0), coalesce(sum(lost), 0)) FROM jobs),
  (SELECT concat_ws(' ', pending, leased, done, deadline, exhausted, permanent, attempts, lost) FROM counts)`).Scan(&counted, &kept)
	})
	switch {
	case err != nil:
		return err
	case verdict != "ok":
		return fmt.Errorf("store %s: integrity check: %s", s.name, verdict)
	case counted != kept:
		return fmt.Errorf("store %s: the counts (%s) are not those of the rows (%s)", s.name, kept, counted)
	}
	return nil
}
