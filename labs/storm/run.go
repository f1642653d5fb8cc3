package storm

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"chaoslab/budgetcaller"
)

// run is a run under way.
type run struct {
	cfg    Config
	pace   pace
	budget time.Duration // of one call
	start  time.Time
	tally  *tally
	lags   []time.Duration // by call: how late it was launched
	sample *sampler

	callers []*budgetcaller.Caller // one an instance
	req     *http.Request
	calls   sync.WaitGroup
	under   atomic.Int64 // calls under way
}

// Run makes the load of cfg, and breaks and heals its partner meanwhile. If ctx
// ends before the run does, what was measured so far is reported, as
// interrupted. All calls have ended and the partner is healthy when Run returns.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	cfg, err := cfg.Complete()
	if err != nil {
		return nil, err
	}
	r := &run{
		cfg: cfg, pace: pace{int64(cfg.Instances * cfg.Rate)},
		budget: cfg.Policy.budget(cfg.Attempts, cfg.Attempt, cfg.Patience),
	}
	defer r.close()
	if err := r.prepare(); err != nil {
		return nil, err
	}
	first, err := cfg.Partner.Counts(ctx)
	uncounted := errors.Is(err, ErrUncounted)
	if err != nil && !uncounted {
		return nil, err
	}
	count := cfg.Calls()
	r.lags = make([]time.Duration, count)
	r.start = time.Now()
	r.tally = newTally(r.start, count, cfg.Length()+r.budget+drain)
	r.sample = newSampler(r, first, uncounted)
	launched, err := r.play(ctx, count)
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		return nil, err
	}
	return r.report(launched, interrupted), nil
}

// drain is how long the partner may take to finish with what the last callers
// left behind.
const drain = 2 * time.Second

// prepare makes the instances.
func (r *run) prepare() error {
	req, err := http.NewRequest(http.MethodGet, r.cfg.Partner.URL(), nil)
	if err != nil {
		return err
	}
	r.req = req
	for i := range r.cfg.Instances {
		seed := r.cfg.Seed
		if seed != 0 {
			seed += uint64(i)
		}
		caller, err := budgetcaller.New(budgetcaller.Config{
			Default: r.cfg.Policy.dependency(r.cfg.Attempts, r.cfg.Attempt),
			Hooks: budgetcaller.Hooks{
				Attempt: func(e budgetcaller.AttemptEvent) { r.tally.attempt(e) },
				Skip:    func(e budgetcaller.SkipEvent) { r.tally.skip(e) },
			},
			Seed:            seed,
			MaxConnsPerHost: max(1, connections()/r.cfg.Instances),
		})
		if err != nil {
			return err
		}
		r.callers = append(r.callers, caller)
	}
	return nil
}

func (r *run) close() {
	for _, c := range r.callers {
		c.Close()
	}
}

// play makes the load, breaks and heals the partner, and waits for the end of
// all that was begun. It returns how many calls were launched.
func (r *run) play(ctx context.Context, count int) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watching, enough := context.WithCancel(context.WithoutCancel(ctx))
	defer enough()
	var beside sync.WaitGroup
	watched := make(chan error, 2)
	for _, f := range []func() error{
		func() error { return r.weather(ctx) },
		func() error { return r.sample.run(watching) },
	} {
		beside.Go(func() {
			err := f()
			if err != nil {
				stop(err) // nothing more is learnt
			}
			watched <- err
		})
	}
	launched := r.pace.run(ctx, r.start, count, func(n int, late time.Duration) { r.launch(ctx, n, late) })
	r.calls.Wait()
	err := r.sample.drain(ctx)
	enough()
	beside.Wait()
	return launched, errors.Join(err, <-watched, <-watched)
}

// weather breaks the partner when it is time to, and heals it.
func (r *run) weather(ctx context.Context) (err error) {
	if !waitUntil(ctx, r.start.Add(r.cfg.Healthy)) {
		return nil
	}
	healed := false
	defer func() {
		if !healed {
			err = errors.Join(err, r.cfg.Partner.Set(context.WithoutCancel(ctx), false))
		}
	}()
	if err := r.cfg.Partner.Set(ctx, true); err != nil {
		return err
	}
	if !waitUntil(ctx, r.start.Add(r.cfg.Healthy+r.cfg.Failure)) {
		return nil
	}
	if err := r.cfg.Partner.Set(ctx, false); err != nil {
		return err
	}
	healed = true
	return nil
}

// waitUntil returns false if ctx ends before that moment.
func waitUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// launch begins call n. It waits for nothing.
func (r *run) launch(ctx context.Context, n int, lag time.Duration) {
	r.lags[n] = lag
	due := r.pace.due(n)
	r.tally.at(due).due.Add(1)
	if r.under.Load() >= maxUnderWay {
		r.tally.end(n, due, dropped)
		return
	}
	r.under.Add(1)
	r.calls.Go(func() {
		defer r.under.Add(-1)
		answered := r.call(ctx, n, due)
		f := failed
		switch took := time.Since(r.start) - due; {
		case answered && took <= r.cfg.Patience:
			f = good
		case answered:
			f = late
		case ctx.Err() != nil:
			f = canceled
		}
		r.tally.end(n, due, f)
	})
}

// call makes call n and says whether it was answered well. Its budget begins
// when it was due: that is since when somebody waits.
func (r *run) call(ctx context.Context, n int, due time.Duration) bool {
	left := r.budget - (time.Since(r.start) - due)
	if left <= 0 {
		return false
	}
	ctx, cancel, err := budgetcaller.Begin(ctx, left)
	if err != nil {
		return false
	}
	defer cancel()
	answer, err := r.callers[n%len(r.callers)].Do(ctx, r.req)
	return err == nil && answer.OK()
}
