package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"chaoslab/labs/retryqueue"
)

// Take implements retryqueue.Store. Settling and the first claim are one
// transaction and one round trip. Only if fewer were claimed than asked for, a
// second one ends what can no longer be sent and claims once more; if that fails
// after the first did something, the next Take will meet the error again.
func (s *Store) Take(ctx context.Context, t retryqueue.Take) (retryqueue.Taken, error) {
	var out retryqueue.Taken
	err := s.again(ctx, t.Claim > 0, func(ctx context.Context, conn *pgxpool.Conn) error {
		out = retryqueue.Taken{}
		return settleAndClaim(ctx, conn, t, &out)
	})
	if err != nil {
		return retryqueue.Taken{}, err
	}
	if len(out.Jobs) >= t.Claim {
		return out, nil
	}
	first := out
	err = s.again(ctx, true, func(ctx context.Context, conn *pgxpool.Conn) error {
		out = first
		return sweepAndClaim(ctx, conn, t, &out)
	})
	if err != nil {
		if len(t.Settle) == 0 && len(first.Jobs) == 0 {
			return retryqueue.Taken{}, err
		}
		first.More = len(first.Jobs) == 0 // nobody has looked yet
		return first, nil
	}
	return out, nil
}

func settleAndClaim(ctx context.Context, conn *pgxpool.Conn, t retryqueue.Take, out *retryqueue.Taken) error {
	var b pgx.Batch
	if len(t.Settle) > 0 {
		queueSettle(&b, t.Settle, out)
	}
	if t.Claim > 0 {
		queueJobs(&b, &out.Jobs, fmt.Sprintf(sqlClaim, t.Claim), int64(t.Now), int64(t.LeaseUntil))
	}
	if b.Len() == 0 {
		return nil
	}
	return conn.SendBatch(ctx, &b).Close()
}

func sweepAndClaim(ctx context.Context, conn *pgxpool.Conn, t retryqueue.Take, out *retryqueue.Taken) error {
	var b pgx.Batch
	var more []retryqueue.Job
	queueJobs(&b, &out.Ended, sqlSweep, int64(t.Now))
	queueJobs(&b, &more, fmt.Sprintf(sqlClaim, t.Claim-len(out.Jobs)), int64(t.Now), int64(t.LeaseUntil))
	var next int64
	b.Queue(sqlNext).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&next); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	if err := conn.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	if out.Jobs = append(out.Jobs, more...); len(out.Jobs) > 0 {
		return nil
	}
	out.Next = retryqueue.Millis(next)
	if next > 0 && out.Next <= t.Now {
		out.Next = t.Now + 1 // another worker has it locked just now
		if len(out.Ended) > 0 {
			out.More, out.Next = true, 0
		}
	}
	return nil
}

func queueSettle(b *pgx.Batch, list []retryqueue.Settlement, out *retryqueue.Taken) {
	n := len(list)
	if n == 1 {
		x := list[0]
		b.Queue(sqlSettleOne, x.ID, int32(x.Attempt), int16(x.State), int16(x.Reason), int64(x.Due), int64(x.At), x.Error).Query(func(rows pgx.Rows) error {
			if !rows.Next() {
				out.Lost = []int{0}
			}
			rows.Close()
			return rows.Err()
		})
		return
	}
	ids, texts := make([]string, n), make([]string, n)
	attempts := make([]int32, n)
	states, reasons := make([]int16, n), make([]int16, n)
	dues, ats := make([]int64, n), make([]int64, n)
	for i, x := range list {
		ids[i], attempts[i], states[i], reasons[i] = x.ID, int32(x.Attempt), int16(x.State), int16(x.Reason)
		dues[i], ats[i], texts[i] = int64(x.Due), int64(x.At), x.Error
	}
	b.Queue(sqlSettle, ids, attempts, states, reasons, dues, ats, texts).Query(func(rows pgx.Rows) error {
		settled := map[string]int{}
		for rows.Next() {
			var id string
			var attempt int
			if err := rows.Scan(&id, &attempt); err != nil {
				return err
			}
			settled[id] = attempt
		}
		for i, x := range list {
			if settled[x.ID] != x.Attempt {
				out.Lost = append(out.Lost, i)
			}
		}
		return rows.Err()
	})
}

func queueJobs(b *pgx.Batch, into *[]retryqueue.Job, sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			j, err := job(rows)
			if err != nil {
				return err
			}
			*into = append(*into, j)
		}
		return rows.Err()
	})
}

func job(row pgx.Row) (retryqueue.Job, error) {
	var j retryqueue.Job
	var state, reason int16
	var due, deadline, enqueued, finished int64
	err := row.Scan(&j.ID, &state, &reason, &j.Attempts, &j.MaxAttempts, &due, &deadline, &enqueued, &finished, &j.LeasesLost, &j.LastError, &j.Purged, &j.Payload)
	j.State, j.Reason = retryqueue.State(state), retryqueue.Reason(reason)
	j.Deadline, j.EnqueuedAt, j.FinishedAt = retryqueue.Millis(deadline), retryqueue.Millis(enqueued), retryqueue.Millis(finished)
	switch j.State {
	case retryqueue.Pending:
		j.AvailableAt = retryqueue.Millis(due)
	case retryqueue.Leased:
		j.LeaseUntil = retryqueue.Millis(due)
	}
	return j, err
}

// Renew implements retryqueue.Store.
func (s *Store) Renew(ctx context.Context, id string, attempt int, until retryqueue.Millis) (retryqueue.Millis, error) {
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
