package retryqueue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Config sets up a Queue. Every zero field has the default named beside it.
type Config struct {
	Store Store // required; the Queue does not close it

	// Send makes one attempt at the job; job.Attempts is its number. Nil means
	// that the receiver accepted it; Retry and Permanent mark an error; any other
	// is unclassified. ctx ends Margin before the lease does, so at the latest
	// before the deadline. A Send that panics takes the process with it, and the
	// lease sees to the job. Nil: the Queue adds and reads, but makes no attempts.
	Send func(ctx context.Context, job Job) error

	// Clock returns the time. Nil: the system's. It must be the one clock of all
	// workers; see the package's notes on time.
	Clock func() Millis

	// Lease is how long a worker may keep a job before another takes it over; it
	// never lasts beyond the job's deadline. Zero: 30 s.
	Lease time.Duration
	// Margin is how long before the end of its lease an attempt is cut off, so
	// that its outcome can still be written down; at most a quarter of what the
	// lease really lasts. Zero: a tenth of Lease.
	Margin time.Duration
	// Renew renews the lease while Send works, at every third of it, so that only
	// the deadline bounds an attempt of a living worker.
	Renew bool

	Backoff Backoff

	// Observe, if set, is told of everything that Work does. It is called by
	// several goroutines and must not block.
	Observe func(Report)
}

// The defaults of Config and the longest lease.
const (
	DefaultLease = 30 * time.Second
	MaxLease     = 24 * time.Hour
)

// Queue takes jobs in, and takes them out to send them. It is safe for
// concurrent use.
type Queue struct {
	cfg Config
}

// New returns a Queue, or an error that names the setting that is not right.
func New(cfg Config) (*Queue, error) {
	if cfg.Store == nil {
		return nil, errors.New("retryqueue: Store: missing")
	}
	if cfg.Clock == nil {
		cfg.Clock = func() Millis { return MillisOf(time.Now()) }
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Report) {}
	}
	if cfg.Lease == 0 {
		cfg.Lease = DefaultLease
	}
	if cfg.Lease < time.Millisecond || cfg.Lease > MaxLease || cfg.Lease%time.Millisecond != 0 {
		return nil, fmt.Errorf("retryqueue: Lease: %v is out of range: whole milliseconds up to %v", cfg.Lease, MaxLease)
	}
	if cfg.Margin == 0 {
		cfg.Margin = cfg.Lease / 10
	}
	if cfg.Margin < 0 || cfg.Margin >= cfg.Lease {
		return nil, fmt.Errorf("retryqueue: Margin: %v is out of range: above 0 and below the lease (%v)", cfg.Margin, cfg.Lease)
	}
	var err error
	if cfg.Backoff, err = cfg.Backoff.withDefaults(); err != nil {
		return nil, err
	}
	return &Queue{cfg}, nil
}

// atOnce is how many jobs Add and RedriveAll write in one transaction.
const atOnce = 500

// Add hands jobs in and says of each, in order, what became of it. A job whose
// id is known changes nothing. Every job is checked before the first is written;
// they are written in transactions of 500, each all or nothing, so that after an
// error the first ones may be in: handing all in again is safe.
func (q *Queue) Add(ctx context.Context, jobs ...NewJob) ([]Added, error) {
	now := q.cfg.Clock()
	for _, j := range jobs {
		if err := j.Check(now); err != nil {
			return nil, err
		}
	}
	var all []Added
	for len(jobs) > 0 {
		n := min(len(jobs), atOnce)
		added, err := q.cfg.Store.Add(ctx, now, jobs[:n])
		if err != nil {
			return all, err
		}
		all, jobs = append(all, added...), jobs[n:]
	}
	return all, nil
}

// Stats counts the jobs by state.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	return q.cfg.Store.Stats(ctx, q.cfg.Clock())
}

// Redrive gives a dead job more attempts and a new deadline and makes it pending
// again. It is the only way out of a final state, meant for a person, by, and
// recorded. It resets nothing: attempts go on counting. A receiver that has
// forgotten the id by then (see package inbox) would do the job's work again. The
// Job comes without its payload.
func (q *Queue) Redrive(ctx context.Context, id, by string, attempts int, deadline Millis) (Job, error) {
	list, err := q.RedriveAll(ctx, []string{id}, by, attempts, deadline)
	if err != nil {
		return Job{}, err
	}
	return list[0].Job, list[0].Err
}

// RedriveAll is Redrive for many jobs, in transactions of 500. It says of each, in
// order, what became of it: one that is refused leaves the others alone. Every id
// is checked before the first job is touched. After an error of the store, the
// jobs that it tells of are redriven and the others as they were, but for the next
// 500 if that is ErrNoAnswer.
func (q *Queue) RedriveAll(ctx context.Context, ids []string, by string, attempts int, deadline Millis) ([]Redriven, error) {
	now := q.cfg.Clock()
	acts := make([]Act, 0, len(ids))
	for _, id := range ids {
		act := Act{ID: id, At: now, By: by, MoreAttempts: attempts, Deadline: deadline}
		if err := act.Check(); err != nil {
			return nil, err
		}
		acts = append(acts, act)
	}
	var all []Redriven
	for len(acts) > 0 {
		n := min(len(acts), atOnce)
		list, err := q.cfg.Store.Redrive(ctx, acts[:n])
		if err != nil {
			return all, err
		}
		all, acts = append(all, list...), acts[n:]
	}
	return all, nil
}

// Outcome is what one step of a worker did.
type Outcome uint8

// The outcomes.
const (
	Idle         Outcome = iota // nothing was due
	Succeeded                   // the job is done
	PutBack                     // the job is pending again, for a later attempt
	GivenUp                     // the job is dead
	Unclassified                // the job stays leased until its lease ends
	Lost                        // the lease was lost; nothing was changed
	Failed                      // the store or the clock failed; see Err
)

// String returns the word used in tables, JSON and metrics.
func (o Outcome) String() string {
	return nameOf([]string{"idle", "done", "put_back", "dead", "unclassified", "lost", "failed"}, uint8(o), "outcome")
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Report is the account of one step.
type Report struct {
	Outcome Outcome
	Job     Job    // as it is after the step, if Lost or Failed as it was claimed; without meaning if Idle
	Err     error  // what Send returned, or what failed
	Ended   []Job  // other jobs found out of time or attempts, dead now
	Next    Millis // if Idle: when the next job is due, zero if none is
	Took    time.Duration

	claimed Job // as it was claimed
}

// RunOnce does at most one job: it claims it, sends it and writes down what
// became of it. If nothing is due, the Report says Idle. That an attempt failed
// is no error of RunOnce. Its error is the unclassified one that Send returned,
// as it is; or ErrLeaseLost; or ErrClockBackwards; or the store's.
func (q *Queue) RunOnce(ctx context.Context) (Report, error) {
	if q.cfg.Send == nil {
		return Report{Outcome: Failed}, errors.New("retryqueue: Send: missing")
	}
	taken, now, err := q.take(ctx, nil, 1)
	if err != nil {
		return Report{Outcome: Failed, Err: err}, err
	}
	if len(taken.Jobs) == 0 {
		return Report{Outcome: Idle, Ended: taken.Ended, Next: taken.Next}, nil
	}
	s, r := q.try(ctx, taken.Jobs[0], now)
	r.Ended = taken.Ended
	if s == nil {
		return r, r.Err
	}
	backwards := errors.Is(r.Err, ErrClockBackwards)
	// What happened is written down also if whoever called has given up.
	wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWait)
	defer cancel()
	done, err := q.cfg.Store.Take(wctx, Take{Now: q.cfg.Clock(), Settle: []Settlement{*s}})
	note := s.State == Leased
	switch {
	case err != nil && note: // it changes nothing but what can be read later
		r.Err = errors.Join(r.Err, err)
	case err != nil:
		r.Job, r.Outcome, r.Err = r.claimed, Failed, errors.Join(err, r.Err)
	case len(done.Lost) > 0 && !note:
		return lost(r)
	case !backwards && !note:
		return r, nil
	}
	return r, r.Err
}

// settleWait bounds the writing down of an outcome after a stop.
const settleWait = 5 * time.Second

// lost turns r into the report of an attempt whose lease was lost. What should
// have become of the job did not.
func lost(r Report) (Report, error) {
	r.Job = r.claimed
	r.Outcome, r.Err = Lost, fmt.Errorf("job %s, attempt %d: %w", r.Job.ID, r.Job.Attempts, ErrLeaseLost)
	return r, r.Err
}

// take settles and claims until there is something to do or nothing is due, and
// returns the time with which it claimed.
func (q *Queue) take(ctx context.Context, settle []Settlement, claim int) (Taken, Millis, error) {
	var ended []Job
	for {
		now := q.cfg.Clock()
		taken, err := q.cfg.Store.Take(ctx, Take{Now: now, Settle: settle, Claim: claim, LeaseUntil: now.Add(q.cfg.Lease)})
		ended = append(ended, taken.Ended...)
		if err != nil || !taken.More {
			taken.Ended = ended
			return taken, now, err
		}
		if len(settle) > 0 { // they are written; what was lost must not be forgotten
			taken.Ended = ended
			return taken, now, nil
		}
	}
}
