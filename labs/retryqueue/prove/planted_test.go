package prove_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/prove"
)

// planted puts a fault that queues are known to have around a sound store, by
// writing to the database behind its back. It changes what workers do.
type planted struct {
	retryqueue.Store
	kind string
	db   *sql.DB
}

func plant(kind string, s retryqueue.Store, db *sql.DB) retryqueue.Store {
	if kind == "" {
		return s
	}
	return &planted{s, kind, db}
}

// exec runs a statement; ids are the tests' own and need no quoting.
func (p *planted) exec(ctx context.Context, format string, args ...any) error {
	_, err := p.db.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf(format, args...))
	return err
}

func (p *planted) Add(ctx context.Context, now retryqueue.Millis, jobs []retryqueue.NewJob) ([]retryqueue.Added, error) {
	added, err := p.Store.Add(ctx, now, jobs)
	if p.kind != "re-enqueue resets" || err != nil {
		return added, err
	}
	for i, a := range added {
		if !a.New {
			err = p.exec(ctx, `UPDATE jobs SET state = 0, reason = 0, attempts = 0, max_attempts = %d, finished_at = NULL, due_at = %d, deadline = %d WHERE id = '%s'`,
				jobs[i].MaxAttempts, now, jobs[i].Deadline, a.ID)
			if err != nil {
				return nil, err
			}
		}
	}
	return added, nil
}

func (p *planted) Take(ctx context.Context, t retryqueue.Take) (retryqueue.Taken, error) {
	switch p.kind {
	case "count at failure":
		for _, x := range t.Settle {
			if err := p.exec(ctx, `UPDATE jobs SET attempts = attempts + 1 WHERE id = '%s' AND state = 1 AND attempts < max_attempts`, x.ID); err != nil {
				return retryqueue.Taken{}, err
			}
		}
		taken, err := p.Store.Take(ctx, t)
		for _, j := range taken.Jobs {
			if err := p.exec(ctx, `UPDATE jobs SET attempts = attempts - 1 WHERE id = '%s' AND state = 1`, j.ID); err != nil {
				return retryqueue.Taken{}, err
			}
		}
		return taken, err
	case "no maximum at claim":
		if err := p.exec(ctx, `UPDATE jobs SET max_attempts = max_attempts + 1 WHERE state = 1 AND attempts >= max_attempts AND due_at <= %d`, t.Now); err != nil {
			return retryqueue.Taken{}, err
		}
	case "settle before send":
		taken, err := p.Store.Take(ctx, t)
		if err != nil || len(taken.Jobs) == 0 {
			return taken, err
		}
		var early []retryqueue.Settlement
		for _, j := range taken.Jobs {
			early = append(early, retryqueue.Settlement{ID: j.ID, Attempt: j.Attempts, State: retryqueue.Done, At: t.Now})
		}
		_, err = p.Store.Take(ctx, retryqueue.Take{Now: t.Now, Settle: early})
		return taken, err
	case "settle after the lease":
		// As if what is done waited for the slowest of its batch, unrenewed.
		t.LeaseUntil = t.Now + 100
		if len(t.Settle) > 0 {
			time.Sleep(300 * time.Millisecond)
		}
	case "settle without fence":
		for _, x := range t.Settle {
			final := "NULL"
			if x.State.Final() {
				final = fmt.Sprint(int64(x.At))
			}
			if err := p.exec(ctx, `UPDATE jobs SET state = %d, reason = %d, due_at = %d, finished_at = %s WHERE id = '%s'`, x.State, x.Reason, x.Due, final, x.ID); err != nil {
				return retryqueue.Taken{}, err
			}
		}
		t.Settle = nil
	}
	return p.Store.Take(ctx, t)
}

// Each planted fault is found, on each store, within a few rounds. Where the
// kills fall is chance, so one round may miss it.
func TestPlantedFaultsAreFound(t *testing.T) {
	const rounds = 25 // on a slow machine little happens in one
	for _, store := range storeKinds(t) {
		for _, c := range []struct {
			kind  string
			by    []string // any of these finds it
			kill  time.Duration
			kills int // so many at least, however slow the machine is
			jobs  int
		}{
			{"count at failure", []string{prove.SentTwice, prove.TooOften}, 0, 30, 60},
			{"no maximum at claim", []string{prove.TooOften}, 0, 30, 60},
			{"settle before send", []string{prove.NotAccepted}, 0, 10, 60},
			{"re-enqueue resets", []string{prove.SentTwice, prove.DeadlineMoved, prove.TooOften}, 0, 10, 60},
			{"settle after the lease", []string{prove.SentAgain}, 0, 10, 60},
			// Who stalls right after sending must live to go on, and its job be taken over
			// meanwhile: not behind many others that have been due for longer.
			{"settle without fence", []string{prove.Unlawful, prove.WrongReason}, 500 * time.Millisecond, 3, 15},
		} {
			t.Run(store.name+"/"+c.kind, func(t *testing.T) {
				for round := range rounds {
					res, err := prove.Run(t.Context(), prove.Options{
						Command: command(c.kind), Where: store.where(t), Seed: *seed + uint64(round),
						Chaos: 1500 * time.Millisecond, Jobs: c.jobs, Kills: c.kills, Drain: 10 * time.Second, Kill: c.kill, Lease: 150 * time.Millisecond,
						Wrap: func(s retryqueue.Store, db *sql.DB) retryqueue.Store { return plant(c.kind, s, db) },
					})
					var kinds []string
					for _, v := range res.Violations {
						kinds = append(kinds, v.Kind)
					}
					slices.Sort(kinds)
					kinds = slices.Compact(kinds)
					t.Logf("round %d: found by %s (%v)", round+1, strings.Join(kinds, ", "), err)
					if slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(c.by, k) }) {
						return
					}
				}
				t.Errorf("not found by any of %s in %d rounds", strings.Join(c.by, ", "), rounds)
			})
		}
	}
}
