package sqlite

const (
	// applicationID marks the file as ours ("rtrq"), in SQLite's own header.
	applicationID = 0x72747271
	// version is that of the schema, in SQLite's user_version.
	version = 1
)

// schema is run in one transaction. due_at is when a worker may have the row:
// available_at while it is pending, the end of the lease while it is leased. Both
// indexes hold only what is not finished, so that tombstones cost claims nothing,
// and finished_at is not touched by a claim, so that it changes the first only.
//
// The trigger keeps the counts, so that stats cost the same at any size and no
// writer, whoever it is, can let them drift.
const schema = `
CREATE TABLE jobs (
  seq          INTEGER PRIMARY KEY,
  id           TEXT    NOT NULL UNIQUE,
  state        INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),
  reason       INTEGER NOT NULL DEFAULT 0 CHECK (reason BETWEEN 0 AND 3),
  attempts     INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND max_attempts),
  max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
  due_at       INTEGER NOT NULL,
  deadline     INTEGER NOT NULL,
  enqueued_at  INTEGER NOT NULL,
  finished_at  INTEGER,
  lost         INTEGER NOT NULL DEFAULT 0,
  last_error   TEXT    NOT NULL DEFAULT '',
  payload      BLOB,
  CHECK ((state = 3) = (reason > 0)),
  CHECK ((state >= 2) = (finished_at IS NOT NULL))
) STRICT;
CREATE INDEX jobs_due ON jobs (due_at) WHERE finished_at IS NULL;
CREATE INDEX jobs_enqueued ON jobs (enqueued_at) WHERE finished_at IS NULL;

CREATE TABLE acts (
  seq           INTEGER PRIMARY KEY,
  id            TEXT    NOT NULL,
  at            INTEGER NOT NULL,
  by            TEXT    NOT NULL,
  more_attempts INTEGER NOT NULL,
  old_reason    INTEGER NOT NULL,
  old_deadline  INTEGER NOT NULL,
  deadline      INTEGER NOT NULL
) STRICT;
CREATE INDEX acts_id ON acts (id);

CREATE TABLE counts (
  one       INTEGER PRIMARY KEY CHECK (one = 1),
  pending   INTEGER NOT NULL DEFAULT 0,
  leased    INTEGER NOT NULL DEFAULT 0,
  done      INTEGER NOT NULL DEFAULT 0,
  deadline  INTEGER NOT NULL DEFAULT 0,
  exhausted INTEGER NOT NULL DEFAULT 0,
  permanent INTEGER NOT NULL DEFAULT 0,
  attempts  INTEGER NOT NULL DEFAULT 0,
  lost      INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO counts (one) VALUES (1);
CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
  UPDATE counts SET pending = pending + 1;
END;
CREATE TRIGGER jobs_moved AFTER UPDATE OF state ON jobs BEGIN
  UPDATE counts SET
    pending   = pending   + (NEW.state = 0) - (OLD.state = 0),
    leased    = leased    + (NEW.state = 1) - (OLD.state = 1),
    done      = done      + (NEW.state = 2) - (OLD.state = 2),
    deadline  = deadline  + (NEW.reason = 1) - (OLD.reason = 1),
    exhausted = exhausted + (NEW.reason = 2) - (OLD.reason = 2),
    permanent = permanent + (NEW.reason = 3) - (OLD.reason = 3),
    attempts  = attempts  + NEW.attempts - OLD.attempts,
    lost      = lost      + NEW.lost - OLD.lost;
END;
`

// sweepAtOnce bounds how many due rows one Take looks at for those to be ended.
const sweepAtOnce = 256

// The statements that every attempt uses, prepared once a connection.
const (
	bare    = `id, state, reason, attempts, max_attempts, due_at, deadline, enqueued_at, coalesce(finished_at, 0), lost, last_error, payload IS NULL, NULL` // without the payload
	columns = `id, state, reason, attempts, max_attempts, due_at, deadline, enqueued_at, coalesce(finished_at, 0), lost, last_error, payload IS NULL, payload`
	// What a claim must tell; the rest is known.
	claimColumns = `id, attempts, max_attempts, deadline, enqueued_at, lost, last_error, payload`

	sqlSettle = `UPDATE jobs SET state = ?3, reason = ?4, due_at = CASE WHEN ?3 = 0 THEN ?5 ELSE due_at END,
  finished_at = CASE WHEN ?3 < 2 THEN NULL ELSE ?6 END, last_error = ?7
WHERE id = ?1 AND attempts = ?2 AND state = 1`

	// The rows that are due but out of attempts or time are left to sqlSweep.
	sqlClaimOne = `UPDATE jobs SET state = 1, attempts = attempts + 1, lost = lost + state, due_at = min(?2, deadline)
WHERE seq = (SELECT seq FROM jobs INDEXED BY jobs_due WHERE finished_at IS NULL AND due_at <= ?1 ORDER BY due_at LIMIT 1)
  AND attempts < max_attempts AND deadline > ?1
RETURNING ` + claimColumns

	// The same for several.
	sqlClaim = `UPDATE jobs SET state = 1, attempts = attempts + 1, lost = lost + state, due_at = min(?2, deadline)
WHERE seq IN (SELECT seq FROM jobs INDEXED BY jobs_due WHERE finished_at IS NULL AND due_at <= ?1 ORDER BY due_at LIMIT ?3)
  AND attempts < max_attempts AND deadline > ?1
RETURNING ` + claimColumns

	sqlSweep = `UPDATE jobs SET state = 3, reason = CASE WHEN attempts >= max_attempts THEN 2 ELSE 1 END, lost = lost + state, finished_at = ?1,
  last_error = CASE WHEN state <> 1 OR last_error LIKE 'the lease ran out%' THEN last_error
    WHEN last_error = '' THEN 'the lease ran out' ELSE 'the lease ran out; the last error: ' || last_error END
WHERE seq IN (SELECT seq FROM jobs INDEXED BY jobs_due WHERE finished_at IS NULL AND due_at <= ?1 ORDER BY due_at LIMIT ?2)
  AND (attempts >= max_attempts OR deadline <= ?1)
RETURNING ` + columns

	sqlNext = `SELECT due_at FROM jobs INDEXED BY jobs_due WHERE finished_at IS NULL ORDER BY due_at LIMIT 1`

	sqlRenew = `UPDATE jobs SET due_at = min(?3, deadline) WHERE id = ?1 AND attempts = ?2 AND state = 1 RETURNING due_at`

	sqlAdd = `INSERT INTO jobs (id, max_attempts, due_at, deadline, enqueued_at, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (id) DO NOTHING`
)
