package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"chaoslab/labs/retryqueue"
)

// Get implements retryqueue.Store.
func (s *Store) Get(ctx context.Context, id string) (retryqueue.Job, error) {
	if err := retryqueue.CheckID(id); err != nil {
		return retryqueue.Job{}, err
	}
	var j retryqueue.Job
	err := s.read(ctx, func(ctx context.Context) (err error) {
		j, _, err = job(s.pool.QueryRow(ctx, `SELECT `+columns+` FROM jobs WHERE id = $1`, id))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
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
	text := `SELECT ` + bare + ` FROM jobs WHERE seq > coalesce((SELECT seq FROM jobs WHERE id = $1), 0)`
	args := []any{f.After, f.Limit}
	if len(f.States) > 0 {
		args = append(args, numbers(f.States))
		text += fmt.Sprintf(` AND state = ANY($%d::int[])`, len(args))
	}
	if len(f.Reasons) > 0 {
		args = append(args, numbers(f.Reasons))
		text += fmt.Sprintf(` AND reason = ANY($%d::int[])`, len(args))
	}
	var list []retryqueue.Job
	err := s.read(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, text+` ORDER BY seq LIMIT $2`, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (retryqueue.Job, error) {
			j, _, err := job(row)
			return j, err
		})
		return err
	})
	return list, err
}

func numbers[T ~uint8](list []T) []int32 {
	out := make([]int32, len(list))
	for i, v := range list {
		out[i] = int32(v)
	}
	return out
}

// Acts implements retryqueue.Store.
func (s *Store) Acts(ctx context.Context, id string) ([]retryqueue.Act, error) {
	if err := retryqueue.CheckID(id); err != nil {
		return nil, err
	}
	var list []retryqueue.Act
	err := s.read(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT id, at, by, more_attempts, deadline, old_deadline, old_reason FROM acts WHERE id = $1 ORDER BY seq`, id)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, act)
		return err
	})
	return list, err
}

func act(row pgx.CollectableRow) (retryqueue.Act, error) {
	var a retryqueue.Act
	var reason int16
	var at, deadline, old int64
	err := row.Scan(&a.ID, &at, &a.By, &a.MoreAttempts, &deadline, &old, &reason)
	a.At, a.Deadline, a.OldDeadline, a.OldReason = retryqueue.Millis(at), retryqueue.Millis(deadline), retryqueue.Millis(old), retryqueue.Reason(reason)
	return a, err
}

// sqlStats reads counters and the heads of two indexes: its cost depends on how
// many jobs are leased, not on how many there are.
const sqlStats = `SELECT sum(pending)::bigint, sum(leased)::bigint, sum(done)::bigint, sum(deadline)::bigint, sum(exhausted)::bigint, sum(permanent)::bigint,
  sum(attempts)::bigint, sum(lost)::bigint,
  coalesce((` + sqlOldest + `), 0),
  coalesce((SELECT due_at FROM jobs WHERE finished_at IS NULL AND state = 0 AND due_at <= $1 ORDER BY due_at, seq LIMIT 1), 0)
FROM counts`

// Stats implements retryqueue.Store.
func (s *Store) Stats(ctx context.Context, now retryqueue.Millis) (retryqueue.Stats, error) {
	st := retryqueue.Stats{At: now}
	var added, due int64
	err := s.read(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, sqlStats, int64(now)).Scan(&st.Pending, &st.Leased, &st.Done, &st.DeadDeadline, &st.DeadExhausted, &st.DeadPermanent, &st.Attempts, &st.LeasesLost, &added, &due)
	})
	st.OldestAdded, st.OldestDue = retryqueue.Millis(added), retryqueue.Millis(due)
	return st, err
}

// Check implements retryqueue.Store: the counts against the rows. The rest
// PostgreSQL holds by the constraints on the table.
func (s *Store) Check(ctx context.Context) error {
	var counted, kept string
	err := s.pool.QueryRow(ctx, `SELECT
  (SELECT concat_ws(' ', count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1), count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE reason = 1),
     count(*) FILTER (WHERE reason = 2), count(*) FILTER (WHERE reason = 3), coalesce(sum(attempts), 0), coalesce(sum(lost), 0)) FROM jobs),
  (SELECT concat_ws(' ', sum(pending), sum(leased), sum(done), sum(deadline), sum(exhausted), sum(permanent), sum(attempts), sum(lost)) FROM counts)`).Scan(&counted, &kept)
	if err != nil {
		return s.explain(err)
	}
	if counted != kept {
		return s.explain(fmt.Errorf("the counts (%s) are not those of the rows (%s)", kept, counted))
	}
	return nil
}
