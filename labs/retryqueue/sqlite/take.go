package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"chaoslab/labs/retryqueue"
)

// Take implements retryqueue.Store. It is one transaction, but if it only claims
// and the first of what is due cannot be sent any more, two: the first did
// nothing then.
func (s *Store) Take(ctx context.Context, t retryqueue.Take) (retryqueue.Taken, error) {
	out, err := s.settleAndClaim(ctx, t)
	if err == nil && len(out.Jobs) == 0 {
		// It may be the last one, and what it wrote be lost with the file.
		s.file.recheck()
		err = s.explain(s.there())
	}
	if err != nil {
		return retryqueue.Taken{}, err
	}
	return out, nil
}

func (s *Store) settleAndClaim(ctx context.Context, t retryqueue.Take) (retryqueue.Taken, error) {
	var out retryqueue.Taken
	var err error
	switch {
	case len(t.Settle) == 0 && t.Claim <= 0:
		return out, nil
	case len(t.Settle) == 0 && t.Claim == 1:
		err = s.single(ctx, func(ctx context.Context, w *writer) (err error) {
			out.Jobs, err = w.claimed(ctx, t, 1)
			return err
		})
		if err != nil || len(out.Jobs) > 0 {
			return out, err
		}
	case len(t.Settle) == 1 && t.Claim <= 0:
		err = s.single(ctx, func(ctx context.Context, w *writer) error {
			out = retryqueue.Taken{}
			return w.settled(ctx, t, &out)
		})
		return out, err
	}
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		out = retryqueue.Taken{}
		if err := w.settled(ctx, t, &out); err != nil || t.Claim <= 0 {
			return err
		}
		return w.take(ctx, t, &out)
	})
	return out, err
}

func (w *writer) settled(ctx context.Context, t retryqueue.Take, out *retryqueue.Taken) error {
	for i, x := range t.Settle {
		n, err := w.exec(ctx, w.settle, x.ID, int64(x.Attempt), int64(x.State), int64(x.Reason), int64(x.Due), int64(x.At), x.Error)
		if err != nil {
			return err
		}
		if n == 0 {
			out.Lost = append(out.Lost, i)
		}
	}
	return nil
}

func (w *writer) take(ctx context.Context, t retryqueue.Take, out *retryqueue.Taken) error {
	var err error
	if out.Jobs, err = w.claimed(ctx, t, t.Claim); err != nil || len(out.Jobs) == t.Claim {
		return err
	}
	// Fewer than asked for: nothing more is due, or rows that can no longer be
	// sent stand in front.
	err = w.query(ctx, w.sweep, func(row []driver.Value) error {
		out.Ended = append(out.Ended, swept(row))
		return nil
	}, int64(t.Now), int64(sweepAtOnce))
	if err != nil {
		return err
	}
	if len(out.Ended) > 0 {
		more, err := w.claimed(ctx, t, t.Claim-len(out.Jobs))
		if err != nil {
			return err
		}
		out.Jobs = append(out.Jobs, more...)
	}
	if len(out.Jobs) > 0 {
		return nil
	}
	err = w.query(ctx, w.next, func(row []driver.Value) error {
		out.Next = retryqueue.Millis(integer(row[0]))
		return nil
	})
	if out.Next > 0 && out.Next <= t.Now && len(out.Ended) > 0 {
		out.More, out.Next = true, 0 // there was more to end than is looked at at once
	}
	return err
}

func (w *writer) claimed(ctx context.Context, t retryqueue.Take, n int) ([]retryqueue.Job, error) {
	var out []retryqueue.Job
	each := func(row []driver.Value) error {
		out = append(out, claimed(row, t.LeaseUntil))
		return nil
	}
	if n == 1 {
		err := w.query(ctx, w.claimOne, each, int64(t.Now), int64(t.LeaseUntil))
		return out, err
	}
	err := w.query(ctx, w.claim, each, int64(t.Now), int64(t.LeaseUntil), int64(n))
	return out, err
}

// claimed is the job that a row of claimColumns is about: the driver takes its
// time for every column, so what is known is not asked for.
func claimed(row []driver.Value, until retryqueue.Millis) retryqueue.Job {
	j := retryqueue.Job{
		State: retryqueue.Leased, ID: text(row[0]), Attempts: int(integer(row[1])), MaxAttempts: int(integer(row[2])),
		Deadline: retryqueue.Millis(integer(row[3])), EnqueuedAt: retryqueue.Millis(integer(row[4])), LeasesLost: int(integer(row[5])), LastError: text(row[6]),
	}
	j.Payload, _ = row[7].([]byte)
	j.LeaseUntil = min(until, j.Deadline)
	return j
}

// swept is the job that a row of columns is about.
func swept(row []driver.Value) retryqueue.Job {
	j := retryqueue.Job{
		ID: text(row[0]), State: retryqueue.State(integer(row[1])), Reason: retryqueue.Reason(integer(row[2])), Attempts: int(integer(row[3])), MaxAttempts: int(integer(row[4])),
		Deadline: retryqueue.Millis(integer(row[6])), EnqueuedAt: retryqueue.Millis(integer(row[7])), FinishedAt: retryqueue.Millis(integer(row[8])),
		LeasesLost: int(integer(row[9])), LastError: text(row[10]), Purged: integer(row[11]) != 0,
	}
	j.Payload, _ = row[12].([]byte)
	return j
}

// integer and text are a value of a column that is declared so, in a STRICT table.
func integer(v driver.Value) int64 { n, _ := v.(int64); return n }

func text(v driver.Value) string { t, _ := v.(string); return t }

// Renew implements retryqueue.Store.
func (s *Store) Renew(ctx context.Context, id string, attempt int, until retryqueue.Millis) (retryqueue.Millis, error) {
	var got int64
	err := s.single(ctx, func(ctx context.Context, w *writer) error {
		found := false
		err := w.query(ctx, w.renew, func(row []driver.Value) error {
			got, found = integer(row[0]), true
			return nil
		}, id, int64(attempt), int64(until))
		if err == nil && !found {
			err = retryqueue.ErrLeaseLost
		}
		return err
	})
	return retryqueue.Millis(got), err
}

// Add implements retryqueue.Store.
func (s *Store) Add(ctx context.Context, now retryqueue.Millis, list []retryqueue.NewJob) ([]retryqueue.Added, error) {
	s.file.recheck()
	var out []retryqueue.Added
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		out = make([]retryqueue.Added, 0, len(list))
		for _, j := range list {
			n, err := w.exec(ctx, w.add, j.ID, int64(j.MaxAttempts), int64(max(now, j.AvailableAt)), int64(j.Deadline), int64(now), blob(j.Payload))
			if err != nil {
				return err
			}
			a := retryqueue.Added{ID: j.ID, New: n == 1}
			if n == 0 {
				known, same := retryqueue.Job{}, false
				err = w.conn.QueryRowContext(ctx, `SELECT state, deadline, max_attempts, coalesce(payload = ?2, 1) FROM jobs WHERE id = ?1`, j.ID, blob(j.Payload)).Scan(&a.State, &known.Deadline, &known.MaxAttempts, &same)
				if err != nil {
					return err
				}
				a.Compare(j, known, same)
			}
			out = append(out, a)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// blob returns p, but never nil: null is a payload that was purged.
func blob(p []byte) []byte {
	if p == nil {
		return []byte{}
	}
	return p
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// jobs reads rows of columns to the end and closes them.
func jobs(rows *sql.Rows, err error) ([]retryqueue.Job, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []retryqueue.Job
	for rows.Next() {
		j, err := job(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, rows.Err()
}

func job(row interface{ Scan(...any) error }) (retryqueue.Job, error) {
	var j retryqueue.Job
	// database/sql takes a detour through text for every integer but int64.
	var state, reason, attempts, most, due, deadline, enqueued, finished, lost int64
	err := row.Scan(&j.ID, &state, &reason, &attempts, &most, &due, &deadline, &enqueued, &finished, &lost, &j.LastError, &j.Purged, &j.Payload)
	j.State, j.Reason = retryqueue.State(state), retryqueue.Reason(reason)
	j.Attempts, j.MaxAttempts, j.LeasesLost = int(attempts), int(most), int(lost)
	j.Deadline, j.EnqueuedAt, j.FinishedAt = retryqueue.Millis(deadline), retryqueue.Millis(enqueued), retryqueue.Millis(finished)
	switch j.State {
	case retryqueue.Pending:
		j.AvailableAt = retryqueue.Millis(due)
	case retryqueue.Leased:
		j.LeaseUntil = retryqueue.Millis(due)
	}
	return j, err
}
