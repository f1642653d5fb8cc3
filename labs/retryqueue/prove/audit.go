package prove

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"chaoslab/labs/retryqueue"
)

// auditSQLite and auditPostgres write every change of every job down, in the
// transaction that makes it.
const (
	auditTable = `CREATE TABLE audit (id TEXT, old_state INT, new_state INT, old_attempts INT, new_attempts INT, old_max INT, new_max INT, old_deadline BIGINT, new_deadline BIGINT)`

	auditSQLite = `CREATE TRIGGER audit_jobs AFTER UPDATE ON jobs BEGIN
  INSERT INTO audit VALUES (NEW.id, OLD.state, NEW.state, OLD.attempts, NEW.attempts, OLD.max_attempts, NEW.max_attempts, OLD.deadline, NEW.deadline);
END`

	auditPostgres = `CREATE FUNCTION audit_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit VALUES (NEW.id, OLD.state, NEW.state, OLD.attempts, NEW.attempts, OLD.max_attempts, NEW.max_attempts, OLD.deadline, NEW.deadline);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_jobs AFTER UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION audit_jobs()`
)

func audit(ctx context.Context, db *sql.DB, postgres bool) error {
	trigger := auditSQLite
	if postgres {
		trigger = auditPostgres
	}
	for _, q := range []string{auditTable, trigger} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	return nil
}

// sqlUnlawful are the changes that may never be: out of a final state; a claim
// that does not add one attempt, or anything else that changes attempts; more
// attempts than allowed; another deadline or another maximum.
const sqlUnlawful = `SELECT id, old_state, new_state, old_attempts, new_attempts, old_max, new_max, old_deadline, new_deadline FROM audit
WHERE old_state >= 2
   OR new_attempts <> old_attempts AND NOT (new_state = 1 AND new_attempts = old_attempts + 1)
   OR new_state = 1 AND old_state <> 1 AND new_attempts = old_attempts
   OR new_attempts > new_max OR new_max <> old_max OR new_deadline <> old_deadline
LIMIT 20`

// maxDetails bounds how many violations of one kind are kept.
const maxDetails = 5

func (t *trial) violate(kind, format string, args ...any) {
	n := 0
	for _, v := range t.result.Violations {
		if v.Kind == kind {
			n++
		}
	}
	if n < maxDetails {
		t.result.Violations = append(t.result.Violations, Violation{kind, fmt.Sprintf(format, args...)})
	}
}

// check holds the store, the receiver and the audit against each other.
func (t *trial) check(ctx context.Context) error {
	if err := t.receiver.end(ctx); err != nil {
		return fmt.Errorf("receiver: %w", err)
	}
	effects, err := t.effects(ctx)
	if err != nil {
		return err
	}
	stats, err := t.bare.Stats(ctx, retryqueue.MillisOf(time.Now()))
	if err != nil {
		return err
	}
	t.result.Stats = stats
	r := t.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	t.result.Accepted, t.result.Duplicates = len(r.accepted), r.duplicates
	for _, id := range t.ids {
		t.result.Deliveries += r.deliveries[id]
		job, err := t.bare.Get(ctx, id)
		if err != nil {
			t.violate(MissingJob, "%s: %v", id, err)
			continue
		}
		t.checkJob(job, t.handed[id], effects[id])
	}
	for attempt, n := range r.attempts {
		if n > 1 {
			t.violate(SentTwice, "%s was delivered %d times", attempt, n)
		}
	}
	if total := stats.Pending + stats.Leased + stats.Done + stats.Dead(); total != int64(len(t.ids)) {
		t.violate(MissingJob, "%d jobs were handed in, the store counts %d", len(t.ids), total)
	}
	if err := t.bare.Check(ctx); err != nil {
		t.violate(Inconsistent, "%v", err)
	}
	return t.checkAudit(ctx)
}

func (t *trial) checkJob(job retryqueue.Job, handed retryqueue.NewJob, effects int) {
	r := t.receiver
	id, accepted, sent := job.ID, r.accepted[job.ID], r.deliveries[job.ID]
	switch {
	case !job.State.Final():
		t.violate(NotFinal, "%s is %v after %d of %d attempts", id, job.State, job.Attempts, job.MaxAttempts)
	case job.State == retryqueue.Done && !accepted:
		t.violate(NotAccepted, "%s is done, and the receiver never accepted it", id)
	case job.Reason == retryqueue.ReasonExhausted && job.Attempts < handed.MaxAttempts:
		t.violate(WrongReason, "%s is exhausted after %d of %d attempts", id, job.Attempts, handed.MaxAttempts)
	case job.Reason == retryqueue.ReasonPermanent && !r.refused[fmt.Sprintf("%s #%d", id, job.Attempts)]:
		t.violate(WrongReason, "%s is permanent at attempt %d, which the receiver did not refuse", id, job.Attempts)
	}
	switch {
	case r.again[id] > 0:
		t.violate(SentAgain, "%s was delivered %d times after its acceptance was answered, with nobody killed", id, r.again[id])
	case r.answered[id] > 0 && job.Reason == retryqueue.ReasonExhausted:
		t.violate(SentAgain, "%s is exhausted, and its acceptance was answered, with nobody killed", id)
	}
	switch {
	case effects > 1:
		t.violate(TwoEffects, "%s has %d effects", id, effects)
	case accepted && effects == 0:
		t.violate(NoEffect, "%s was accepted and has no effect", id)
	}
	if job.Attempts > handed.MaxAttempts || sent > handed.MaxAttempts || sent > job.Attempts {
		t.violate(TooOften, "%s: %d attempts and %d deliveries, at most %d", id, job.Attempts, sent, handed.MaxAttempts)
	}
	if job.Deadline != handed.Deadline {
		t.violate(DeadlineMoved, "%s: the deadline is %d, %d was handed in", id, job.Deadline, handed.Deadline)
	}
}

func (t *trial) effects(ctx context.Context) (map[string]int, error) {
	rows, err := t.receiver.db.QueryContext(ctx, `SELECT id, count(*) FROM effects GROUP BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		out[id] = n
	}
	return out, rows.Err()
}

func (t *trial) checkAudit(ctx context.Context) error {
	rows, err := t.db.QueryContext(ctx, sqlUnlawful)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var c [8]int64
		if err := rows.Scan(&id, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]); err != nil {
			return err
		}
		t.violate(Unlawful, "%s: %v, attempt %d of %d, deadline %d became %v, attempt %d of %d, deadline %d",
			id, retryqueue.State(c[0]), c[2], c[4], c[6], retryqueue.State(c[1]), c[3], c[5], c[7])
	}
	return rows.Err()
}
