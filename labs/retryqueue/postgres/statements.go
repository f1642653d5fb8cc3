package postgres

import (
	"fmt"
	"strings"
)

const (
	bare    = `id, state, reason, attempts, max_attempts, due_at, deadline, enqueued_at, coalesce(finished_at, 0), lost, last_error, payload IS NULL, NULL::bytea` // without the payload
	columns = `id, state, reason, attempts, max_attempts, due_at, deadline, enqueued_at, coalesce(finished_at, 0), lost, last_error, payload IS NULL, payload`
	// In statements that join jobs with others, as j.
	jColumns = `j.id, j.state, j.reason, j.attempts, j.max_attempts, j.due_at, j.deadline, j.enqueued_at, coalesce(j.finished_at, 0) AS finished_at, j.lost, j.last_error, j.payload IS NULL AS purged, j.payload`
	// What such a statement returned under a name.
	returned = `id, state, reason, attempts, max_attempts, due_at, deadline, enqueued_at, finished_at, lost, last_error, purged, payload`
)

// counted is the setting, on in a transaction whose statements end with count.
const counted = "retryqueue.counted"

// count adds moves to the counts, rows of the state that each job had (-1: it is
// new), its state and reason now, the attempts it started and the leases it lost.
func count(moves string) string {
	return `UPDATE counts AS c SET pending = c.pending + d.pending, leased = c.leased + d.leased, done = c.done + d.done,
  deadline = c.deadline + d.deadline, exhausted = c.exhausted + d.exhausted, permanent = c.permanent + d.permanent,
  attempts = c.attempts + d.attempts, lost = c.lost + d.lost
FROM (SELECT count(*) FILTER (WHERE state = 0) - count(*) FILTER (WHERE was = 0) AS pending,
  count(*) FILTER (WHERE state = 1) - count(*) FILTER (WHERE was = 1) AS leased,
  count(*) FILTER (WHERE state = 2) AS done,
  count(*) FILTER (WHERE reason = 1) AS deadline, count(*) FILTER (WHERE reason = 2) AS exhausted, count(*) FILTER (WHERE reason = 3) AS permanent,
  count(*) FILTER (WHERE started) AS attempts, count(*) FILTER (WHERE lost) AS lost, count(*) AS n
  FROM (` + moves + `) AS m (was, state, reason, started, lost)) AS d
WHERE c.shard = pg_backend_pid() % 64 AND d.n > 0`
}

// settleOne and settleMany take $1 to $7: id, attempt, state, reason, due, at and
// error, and return the jobs whose claim still held.
const (
	settleOne = `UPDATE jobs AS j SET state = $3::smallint, reason = $4::smallint, due_at = CASE WHEN $3::smallint = 0 THEN $5::bigint ELSE due_at END,
  finished_at = CASE WHEN $3::smallint < 2 THEN NULL ELSE $6::bigint END, last_error = $7
WHERE id = $1 AND attempts = $2 AND state = 1
RETURNING j.id, j.attempts, j.state, j.reason`

	settleMany = `UPDATE jobs AS j SET state = s.state, reason = s.reason, due_at = CASE WHEN s.state = 0 THEN s.due ELSE j.due_at END,
  finished_at = CASE WHEN s.state < 2 THEN NULL ELSE s.at END, last_error = s.error
FROM unnest($1::text[], $2::int[], $3::smallint[], $4::smallint[], $5::bigint[], $6::bigint[], $7::text[]) AS s (id, attempt, state, reason, due, at, error)
WHERE j.id = s.id AND j.attempts = s.attempt AND j.state = 1
RETURNING j.id, j.attempts, j.state, j.reason`
)

// due locks the first due jobs that no other has locked, from a place on.
// MATERIALIZED: inlined, the LIMIT could be evaluated again for rows that another
// has just changed, and push attempts past the maximum.
func due(now, limit, from, but string) string {
	return fmt.Sprintf(`MATERIALIZED (SELECT id, state, attempts, max_attempts, deadline, due_at, seq FROM jobs
  WHERE finished_at IS NULL AND due_at <= %s AND (due_at, seq) >= (%s)%s ORDER BY due_at, seq LIMIT %s FOR UPDATE SKIP LOCKED)`, now, from, but, limit)
}

// sqlTake settles as many claims as it is told, claims and counts, all in one
// statement. It returns the jobs claimed, each with the place that it had, and, in the state settledRow, the id and
// attempt of those settled. The arguments are those of settleOne or settleMany if
// there is anything to settle, then now and the end of the lease if anything is to
// be claimed. Jobs that are due but out of attempts or time are left to sqlSweep.
func sqlTake(settles int, claim bool) string {
	if claim {
		return takesWith[min(settles, 2)]
	}
	return takesWithout[min(settles, 2)]
}

// The texts of sqlTake by settlements: none, one, many.
var (
	takesWith    = [...]string{takeText(0, true), takeText(1, true), takeText(2, true)}
	takesWithout = [...]string{"", takeText(1, false), takeText(2, false)}
)

func takeText(settles int, claim bool) string {
	var with, moves, out []string
	now, until, limit, from, but := "$1", "$2", "$3", "$4, $5", ""
	if settles > 0 {
		settle := settleOne
		now, until, limit, from, but = "$8", "$9", "$10", "$11, $12", " AND id <> $1" // no statement may change a row twice
		if settles > 1 {
			settle, but = settleMany, " AND id <> ALL($1::text[])"
		}
		with = append(with, "s AS ("+settle+")")
		moves = append(moves, "SELECT 1, state, reason, false, false FROM s")
		out = append(out, fmt.Sprintf("SELECT id, %d::smallint, 0::smallint, attempts, 0, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0, '', true, NULL::bytea, 0::bigint, 0::bigint FROM s", settledRow))
	}
	if claim {
		with = append(with, "c AS "+due(now, limit, from, but), `k AS (UPDATE jobs AS j SET state = 1, attempts = j.attempts + 1, lost = j.lost + j.state, due_at = least(`+until+`, j.deadline)
FROM c WHERE j.id = c.id AND c.attempts < c.max_attempts AND c.deadline > `+now+`
RETURNING c.state AS was, c.due_at AS was_due, j.seq, `+jColumns+`)`)
		moves = append(moves, "SELECT was, 1, 0, true, was = 1 FROM k")
		out = append(out, "SELECT "+returned+", was_due, seq FROM k")
	}
	with = append(with, "n AS ("+count(strings.Join(moves, " UNION ALL "))+")")
	return "WITH " + strings.Join(with, ",\n") + "\n" + strings.Join(out, " UNION ALL ")
}

// settledRow stands in the place of a job's state where there is no job to return.
const settledRow = -1

var (
	// sqlSweep ends what can no longer be sent, at $1, of the first $2 that are due.
	sqlSweep = `WITH c AS ` + due("$1", "$2", "0, 0", "") + `,
k AS (UPDATE jobs AS j SET state = 3, reason = CASE WHEN j.attempts >= j.max_attempts THEN 2 ELSE 1 END, lost = j.lost + j.state, finished_at = $1,
  last_error = CASE WHEN j.state <> 1 OR j.last_error LIKE 'the lease ran out%' THEN j.last_error
    WHEN j.last_error = '' THEN 'the lease ran out' ELSE 'the lease ran out; the last error: ' || j.last_error END
FROM c WHERE j.id = c.id AND (c.attempts >= c.max_attempts OR c.deadline <= $1)
RETURNING c.state AS was, ` + jColumns + `),
n AS (` + count(`SELECT was, state, reason, false, was = 1 FROM k`) + `)
SELECT ` + returned + ` FROM k`

	// sqlAdd numbers as handed in, but inserts by id, so that two who hand in the
	// same ids at the same time do not wait for each other crosswise.
	sqlAdd = `WITH a AS MATERIALIZED (SELECT nextval('jobs_seq_seq') AS seq, m.* FROM (
  SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $6::bytea[]) WITH ORDINALITY AS u (id, max_attempts, due_at, deadline, payload, nth) ORDER BY nth) AS m),
k AS (INSERT INTO jobs (seq, id, max_attempts, due_at, deadline, enqueued_at, payload)
SELECT seq, id, max_attempts, due_at, deadline, $5, payload FROM a ORDER BY id, nth ON CONFLICT (id) DO NOTHING RETURNING id),
n AS (` + count(`SELECT -1, 0, 0, false, false FROM k`) + `)
SELECT id FROM k`
)

const (
	sqlNext = `SELECT due_at FROM jobs WHERE finished_at IS NULL ORDER BY due_at, seq LIMIT 1`

	sqlRenew = `UPDATE jobs SET due_at = least($3, deadline) WHERE id = $1 AND attempts = $2 AND state = 1 RETURNING due_at`

	// sqlCountRows leaves the counting of what follows in the transaction to the
	// trigger.
	sqlCountRows = `SELECT set_config('` + counted + `', 'off', true)`
)
