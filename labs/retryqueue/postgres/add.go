package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"chaoslab/labs/retryqueue"
)

// Renew implements retryqueue.Store.
func (s *Store) Renew(ctx context.Context, id string, attempt int, until retryqueue.Millis) (retryqueue.Millis, error) {
	defer s.head.put(until)
	var got int64
	err := s.again(ctx, false, func(ctx context.Context, conn *pgxpool.Conn) error {
		err := conn.QueryRow(ctx, sqlRenew, id, attempt, int64(until)).Scan(&got)
		if errors.Is(err, pgx.ErrNoRows) {
			return retryqueue.ErrLeaseLost
		}
		return err
	})
	return retryqueue.Millis(got), err
}

// Add implements retryqueue.Store.
func (s *Store) Add(ctx context.Context, now retryqueue.Millis, list []retryqueue.NewJob) ([]retryqueue.Added, error) {
	defer s.head.put(now) // or later
	var out []retryqueue.Added
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var err error
		out, err = add(ctx, tx, now, list)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func add(ctx context.Context, tx pgx.Tx, now retryqueue.Millis, list []retryqueue.NewJob) ([]retryqueue.Added, error) {
	n := len(list)
	ids, most := make([]string, n), make([]int32, n)
	dues, deadlines := make([]int64, n), make([]int64, n)
	payloads := make([][]byte, n)
	for i, j := range list {
		ids[i], most[i] = j.ID, int32(j.MaxAttempts)
		dues[i], deadlines[i] = int64(max(now, j.AvailableAt)), int64(j.Deadline)
		payloads[i] = append([]byte{}, j.Payload...) // null is a payload that was purged
	}
	rows, err := tx.Query(ctx, sqlAdd, ids, most, dues, deadlines, int64(now), payloads)
	fresh, err := collect[string](rows, err)
	if err != nil {
		return nil, err
	}
	isNew := map[string]bool{}
	for _, id := range fresh {
		isNew[id] = true
	}
	out := make([]retryqueue.Added, 0, n)
	for _, j := range list {
		a := retryqueue.Added{ID: j.ID, New: isNew[j.ID]}
		delete(isNew, j.ID) // a second one with this id is not new
		if !a.New {
			var state int16
			var until int64
			known, same := retryqueue.Job{}, false
			payload := append([]byte{}, j.Payload...)
			if err := tx.QueryRow(ctx, `SELECT state, deadline, max_attempts, coalesce(payload = $2, true) FROM jobs WHERE id = $1`, j.ID, payload).Scan(&state, &until, &known.MaxAttempts, &same); err != nil {
				return nil, fmt.Errorf("job %s: %w", j.ID, err)
			}
			a.State, known.Deadline = retryqueue.State(state), retryqueue.Millis(until)
			a.Compare(j, known, same)
		}
		out = append(out, a)
	}
	return out, nil
}

func collect[T any](rows pgx.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
