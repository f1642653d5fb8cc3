package prove

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/httpsend"
	"chaoslab/labs/retryqueue/stores"
)

// trial is one crash test under way.
type trial struct {
	o        Options
	r        *rand.Rand // of who hands in; the killer has its own
	start    time.Time
	bare     retryqueue.Store
	store    retryqueue.Store // with what a test has planted
	db       *sql.DB
	receiver *receiver
	handed   map[string]retryqueue.NewJob
	ids      []string
	result   Result
}

func newTrial(ctx context.Context, o Options) (*trial, error) {
	t := &trial{o: o, r: rand.New(rand.NewPCG(o.Seed, 1)), start: time.Now(), handed: map[string]retryqueue.NewJob{}, result: Result{Violations: []Violation{}}}
	there, err := stores.Open(ctx, o.Where, stores.Options{Schema: o.Schema})
	switch {
	case err == nil: // the address is not repeated: it may hold a password
		return nil, errors.Join(errors.New("the store exists: the crash test needs one of its own"), there.Close())
	case !errors.Is(err, retryqueue.ErrNoStore):
		return nil, err
	}
	if t.bare, err = stores.Open(ctx, o.Where, stores.Options{Create: true, Schema: o.Schema}); err != nil {
		return nil, err
	}
	if t.db, err = stores.DB(o.Where, o.Schema); err == nil {
		t.store = o.Wrap(t.bare, t.db)
		if err = audit(ctx, t.db, stores.IsPostgres(o.Where)); err == nil {
			t.receiver, err = newReceiver(ctx, filepath.Join(o.Dir, "receiver.db"), o.Seed, o.Lease)
		}
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *trial) close() error {
	var errs []error
	if t.receiver != nil {
		errs = append(errs, t.receiver.close())
	}
	if t.db != nil && stores.IsPostgres(t.o.Where) {
		_, err := t.db.Exec("DROP SCHEMA IF EXISTS " + t.o.Schema + " CASCADE")
		errs = append(errs, err)
	}
	if t.db != nil {
		errs = append(errs, t.db.Close())
	}
	return errors.Join(append(errs, t.bare.Close())...)
}

func (t *trial) progress(phase string) {
	t.o.Progress(Progress{Phase: phase, Elapsed: time.Since(t.start), Result: t.result})
}

func (t *trial) run(ctx context.Context) error {
	for range t.o.Jobs {
		if err := t.handIn(ctx, true); err != nil {
			return err
		}
	}
	if err := t.chaos(ctx); err != nil {
		return err
	}
	if err := t.drain(ctx); err != nil {
		return err
	}
	t.progress("check")
	return t.check(ctx)
}

// chaos hands jobs in, new ones and known ones, while workers are killed.
func (t *trial) chaos(ctx context.Context) error {
	cctx, cancel := context.WithTimeout(ctx, t.longest())
	defer cancel()
	until := time.Now().Add(t.o.Chaos)
	herd := newHerd(t.o, t.receiver.url, false)
	done := make(chan error, 1)
	go func() { done <- herd.run(cctx) }()
	pause := t.o.Chaos / time.Duration(t.o.Jobs)
	for n := 0; cctx.Err() == nil; n++ {
		if err := t.handIn(ctx, n < t.o.Jobs); err != nil {
			cancel()
			return errors.Join(err, <-done)
		}
		if n%20 == 0 {
			t.progress("chaos")
		}
		if t.o.Kills > 0 && time.Now().After(until) {
			enough, err := t.enough(ctx, herd)
			if enough || err != nil {
				cancel()
				if err != nil {
					return errors.Join(err, <-done)
				}
			}
		}
		pauseFor(cctx, pause)
	}
	err := <-done
	t.result.Starts, t.result.Kills, t.result.Suicides, t.result.Stops = herd.starts, herd.kills, herd.suicides, herd.stops
	return errors.Join(err, ctx.Err())
}

// longest is how long the killing may take.
func (t *trial) longest() time.Duration {
	if t.o.Kills > 0 {
		return 10 * t.o.Chaos
	}
	return t.o.Chaos
}

// enough says whether so much was killed and lost that it proves something.
func (t *trial) enough(ctx context.Context, h *herd) (bool, error) {
	h.mu.Lock()
	kills := h.kills
	h.mu.Unlock()
	if kills < t.o.Kills {
		return false, nil
	}
	st, err := t.bare.Stats(ctx, retryqueue.MillisOf(time.Now()))
	return st.LeasesLost > 0, err
}

// handIn hands in a new job if fresh is set, and one that is known with another
// deadline and another maximum.
func (t *trial) handIn(ctx context.Context, fresh bool) error {
	now := retryqueue.MillisOf(time.Now())
	var jobs []retryqueue.NewJob
	if fresh {
		j, err := t.newJob(fmt.Sprint("job-", len(t.ids)), now)
		if err != nil {
			return err
		}
		t.ids = append(t.ids, j.ID)
		t.handed[j.ID] = j
		jobs = append(jobs, j)
		t.result.Jobs++
	}
	again, err := t.newJob(t.ids[t.r.IntN(len(t.ids))], now)
	if err != nil {
		return err
	}
	jobs = append(jobs, again)
	t.result.Repeats++
	added, err := t.store.Add(ctx, now, jobs)
	if err == nil && fresh && !added[0].New {
		err = fmt.Errorf("job %s: it is new, and the store says it is known", jobs[0].ID)
	}
	return err
}

func (t *trial) newJob(id string, now retryqueue.Millis) (retryqueue.NewJob, error) {
	payload, err := httpsend.Request{URL: t.receiver.url}.Encode()
	if err != nil {
		return retryqueue.NewJob{}, err
	}
	j := retryqueue.NewJob{ID: id, Payload: payload, MaxAttempts: 1 + t.r.IntN(8), Deadline: now + 3_600_000}
	if t.r.IntN(5) == 0 { // some do not live that long
		j.Deadline = now + 200 + retryqueue.Millis(t.r.Int64N(3000))
	}
	return j, j.Check(now)
}

// drain lets calm workers bring every job to its end.
func (t *trial) drain(ctx context.Context) error {
	dctx, cancel := context.WithTimeout(ctx, t.o.Drain)
	defer cancel()
	t.receiver.calm()
	herd := newHerd(t.o, t.receiver.url, true)
	done := make(chan error, 1)
	go func() { done <- herd.run(dctx) }()
	for dctx.Err() == nil {
		st, err := t.bare.Stats(ctx, retryqueue.MillisOf(time.Now()))
		if err != nil {
			cancel()
			return errors.Join(err, <-done)
		}
		t.result.Stats = st
		if st.Pending+st.Leased == 0 {
			break
		}
		t.progress("drain")
		pauseFor(dctx, 50*time.Millisecond)
	}
	cancel()
	return errors.Join(<-done, ctx.Err())
}

func pauseFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
