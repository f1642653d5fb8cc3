package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"chaoslab/labs/retryqueue"
)

// claim is what a settlement is tied to.
type claim struct {
	id      string
	attempt int
}

// settleAndClaim does what list wants, in one statement. It forgets what was done
// for list before.
func (s *Store) settleAndClaim(ctx context.Context, conn *pgxpool.Conn, list []*member) error {
	var settle []retryqueue.Settlement
	held := map[claim]bool{} // said once of each claim: the first word counts
	for _, m := range list {
		m.out = retryqueue.Taken{}
		for _, x := range m.take.Settle {
			if c := (claim{x.ID, x.Attempt}); !held[c] {
				held[c] = true
				settle = append(settle, x)
			}
		}
	}
	clear(held)
	claims, now, until := wanted(list)
	if len(settle) == 0 && claims == 0 {
		return nil // all have withdrawn
	}
	args := settleArgs(settle)
	var from place
	var moves int
	if claims > 0 {
		from, moves = s.head.look(now)
		args = append(args, int64(now), int64(until), claims, from.due, from.seq)
	}
	defer s.head.put(dues(settle)...)
	rows, err := conn.Query(ctx, sqlTake(len(settle), claims > 0), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var jobs []retryqueue.Job
	var first, at place
	for rows.Next() {
		j, settled, err := job(rows, &at.due, &at.seq)
		switch {
		case err != nil:
			return err
		case settled:
			held[claim{j.ID, j.Attempts}] = true
		default:
			if len(jobs) == 0 || at.before(first) {
				first = at
			}
			jobs = append(jobs, j)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, m := range list {
		for i, x := range m.take.Settle {
			if c := (claim{x.ID, x.Attempt}); held[c] {
				delete(held, c)
			} else {
				m.out.Lost = append(m.out.Lost, i)
			}
		}
	}
	share(list, jobs)
	if claims > 0 && len(jobs) == claims {
		s.head.found(first, moves)
	} else if claims > 0 {
		s.head.found(place{}, moves)
	}
	return nil
}

// dues is when those are due that are to be tried again.
func dues(list []retryqueue.Settlement) (all []retryqueue.Millis) {
	for _, x := range list {
		if x.State == retryqueue.Pending {
			all = append(all, x.Due)
		}
	}
	return all
}

// wanted is how many jobs list still wants, at the latest of their times and for
// the lease that is the same for all.
func wanted(list []*member) (n int, now, until retryqueue.Millis) {
	for _, m := range list {
		if k := m.lacks(); k > 0 {
			n, now, until = n+k, max(now, m.take.Now), max(until, m.take.LeaseUntil)
		}
	}
	return n, now, until
}

// share gives jobs to those who want them, in order.
func share(list []*member, jobs []retryqueue.Job) {
	for _, m := range list {
		n := min(max(0, m.lacks()), len(jobs))
		m.out.Jobs, jobs = append(m.out.Jobs, jobs[:n]...), jobs[n:]
	}
}

// sweepAndClaim ends what can no longer be sent and claims once more for list,
// who all still want jobs.
func sweepAndClaim(ctx context.Context, conn *pgxpool.Conn, list []*member) error {
	var b pgx.Batch
	var ended, jobs []retryqueue.Job
	var due int64
	claims, now, until := wanted(list)
	queueJobs(&b, &ended, nil, sqlSweep, int64(now), sweepAtOnce)
	queueJobs(&b, &jobs, []any{nil, nil}, sqlTake(0, true), int64(now), int64(until), claims, 0, 0)
	b.Queue(sqlNext).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&due); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	if err := conn.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	list[0].out.Ended = ended
	share(list, jobs)
	next, more := retryqueue.Millis(due), false
	if next > 0 && next <= now {
		next = now + 1 // another worker has it locked just now
		if len(ended) > 0 {
			next, more = 0, true
		}
	}
	for _, m := range list {
		if len(m.out.Jobs) == 0 {
			m.out.Next, m.out.More = next, more
		}
	}
	return nil
}

// sweepAtOnce is how many due jobs a sweep looks at.
const sweepAtOnce = 256

func queueJobs(b *pgx.Batch, into *[]retryqueue.Job, more []any, sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			j, _, err := job(rows, more...)
			if err != nil {
				return err
			}
			*into = append(*into, j)
		}
		return rows.Err()
	})
}

// settleArgs are the arguments of settleOne or settleMany.
func settleArgs(list []retryqueue.Settlement) []any {
	n := len(list)
	switch n {
	case 0:
		return nil
	case 1:
		x := list[0]
		return []any{x.ID, int32(x.Attempt), int16(x.State), int16(x.Reason), int64(x.Due), int64(x.At), x.Error}
	}
	ids, texts := make([]string, n), make([]string, n)
	attempts := make([]int32, n)
	states, reasons := make([]int16, n), make([]int16, n)
	dues, ats := make([]int64, n), make([]int64, n)
	for i, x := range list {
		ids[i], attempts[i], states[i], reasons[i] = x.ID, int32(x.Attempt), int16(x.State), int16(x.Reason)
		dues[i], ats[i], texts[i] = int64(x.Due), int64(x.At), x.Error
	}
	return []any{ids, attempts, states, reasons, dues, ats, texts}
}

// job is the one that a row is about; settled, if the row only says that a claim
// on it was settled. more are where its further columns go.
func job(row pgx.Row, more ...any) (j retryqueue.Job, settled bool, err error) {
	var state, reason int16
	var due, deadline, enqueued, finished int64
	err = row.Scan(append([]any{&j.ID, &state, &reason, &j.Attempts, &j.MaxAttempts, &due, &deadline, &enqueued, &finished, &j.LeasesLost, &j.LastError, &j.Purged, &j.Payload}, more...)...)
	if state == settledRow {
		return j, true, err
	}
	j.State, j.Reason = retryqueue.State(state), retryqueue.Reason(reason)
	j.Deadline, j.EnqueuedAt, j.FinishedAt = retryqueue.Millis(deadline), retryqueue.Millis(enqueued), retryqueue.Millis(finished)
	switch j.State {
	case retryqueue.Pending:
		j.AvailableAt = retryqueue.Millis(due)
	case retryqueue.Leased:
		j.LeaseUntil = retryqueue.Millis(due)
	}
	return j, false, err
}
