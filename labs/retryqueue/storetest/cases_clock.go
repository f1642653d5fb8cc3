package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
)

// clockJobs are the jobs of the cases below, and what their sends end with.
func clockJobs() map[string]error {
	no := errors.New("no")
	return map[string]error{"accepted": nil, "again": retryqueue.Retry(no, 0), "refused": retryqueue.Permanent(no), "unclear": no}
}

// clockWork works with workers that read clock, until nothing is due, and returns
// what was reported of each job.
func (s *store) clockWork(over retryqueue.Store, clock *atomic.Int64, batch int, send func(retryqueue.Job) error) map[string]retryqueue.Report {
	s.t.Helper()
	var mu sync.Mutex
	reports := map[string]retryqueue.Report{}
	queue, err := retryqueue.New(retryqueue.Config{
		Store: over, Lease: lease * time.Millisecond,
		Clock: func() retryqueue.Millis { return retryqueue.Millis(clock.Load()) },
		Send:  func(_ context.Context, job retryqueue.Job) error { return send(job) },
		Observe: func(r retryqueue.Report) {
			mu.Lock()
			defer mu.Unlock()
			if _, twice := reports[r.Job.ID]; twice {
				s.t.Errorf("job %s was reported twice", r.Job.ID)
			}
			reports[r.Job.ID] = r
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := queue.Work(s.t.Context(), retryqueue.WorkConfig{Batch: batch, UntilIdle: true}); err != nil {
		s.t.Fatal(err)
	}
	return reports
}

// clockBackInSend: the clock goes back while workers send. What the receiver said
// for good is written down, as of the time before; everything else stays leased,
// and is sent again when its lease has run out by the clock that went back.
func clockBackInSend(t *testing.T, s *store) {
	const start, back = 50_000, 300
	for _, batch := range []int{1, len(clockJobs())} {
		id := func(name string) string { return fmt.Sprint(name, "-", batch) }
		results := map[string]error{}
		for name, result := range clockJobs() {
			results[id(name)] = result
			s.add(1, newJob(id(name)))
		}
		var clock atomic.Int64
		clock.Store(start)
		var together sync.WaitGroup // all of a batch have begun before it goes back
		together.Add(batch)
		var began sync.Map // when each send began
		first := s.clockWork(s.Store, &clock, batch, func(job retryqueue.Job) error {
			began.Store(job.ID, retryqueue.Millis(clock.Load()))
			if batch > 1 {
				together.Done()
				together.Wait()
				clock.Store(start - back)
			} else {
				clock.Add(-back)
			}
			return results[job.ID]
		})
		for name, want := range map[string]struct {
			outcome retryqueue.Outcome
			job     string
		}{
			"accepted": {retryqueue.Succeeded, "done none 1/3"},
			"refused":  {retryqueue.GivenUp, "dead permanent 1/3"},
			"again":    {retryqueue.Failed, "leased none 1/3"},
			"unclear":  {retryqueue.Failed, "leased none 1/3"},
		} {
			if r := first[id(name)]; r.Outcome != want.outcome || !errors.Is(r.Err, retryqueue.ErrClockBackwards) {
				t.Errorf("%s: reported %v, %v, want %v and %v", id(name), r.Outcome, r.Err, want.outcome, retryqueue.ErrClockBackwards)
			}
			j := s.get(id(name))
			if got := fmt.Sprintf("%v %v %d/%d", j.State, j.Reason, j.Attempts, j.MaxAttempts); got != want.job || j.Deadline != deadline {
				t.Errorf("%s: got %s, deadline %d, want %s and the deadline where it was", id(name), got, j.Deadline, want.job)
			}
			if at, _ := began.Load(id(name)); j.State.Final() && j.FinishedAt != at {
				t.Errorf("%s: final at %d, want when its send began: %v", id(name), j.FinishedAt, at)
			}
		}
		clock.Store(start + lease)
		second := s.clockWork(s.Store, &clock, batch, func(retryqueue.Job) error { return nil })
		for _, name := range []string{"again", "unclear"} {
			if j := s.get(id(name)); second[id(name)].Outcome != retryqueue.Succeeded || j.Attempts != 2 || j.LeasesLost != 1 {
				t.Errorf("%s when its lease has run out: reported %v, got %s, want it done in attempt 2", id(name), second[id(name)].Outcome, brief(j))
			}
		}
		if len(second) != 2 {
			t.Errorf("reported %v, want the two that were leased and no other", second)
		}
	}
	s.check()
}

// clockBackAtClaim: the clock goes back between a claim and its send. Nothing is
// sent, since what is left of the lease cannot be told; the attempt is spent.
func clockBackAtClaim(t *testing.T, s *store) {
	for _, batch := range []int{1, 4} {
		var clock atomic.Int64
		clock.Store(50_000)
		id := fmt.Sprint("a-", batch)
		s.add(1, newJob(id))
		reports := s.clockWork(&backAtClaim{s.Store, &clock}, &clock, batch, func(job retryqueue.Job) error {
			t.Errorf("%s was sent", job.ID)
			return nil
		})
		if r := reports[id]; r.Outcome != retryqueue.Failed || !errors.Is(r.Err, retryqueue.ErrClockBackwards) {
			t.Errorf("%s: reported %v, %v, want %v", id, r.Outcome, r.Err, retryqueue.ErrClockBackwards)
		}
		s.want(id, fmt.Sprintf("leased none 1/3 avail=0 lease=%d dead=%d added=1 final=0 lost=0", 50_000+lease, deadline))
		clock.Store(50_000 + lease)
		reports = s.clockWork(s.Store, &clock, batch, func(retryqueue.Job) error { return nil })
		if j := s.get(id); reports[id].Outcome != retryqueue.Succeeded || j.Attempts != 2 {
			t.Errorf("%s when its lease has run out: reported %v, got %s, want it done in attempt 2", id, reports[id].Outcome, brief(j))
		}
	}
}

// backAtClaim is a store after whose claims the clock goes back.
type backAtClaim struct {
	retryqueue.Store
	clock *atomic.Int64
}

func (b *backAtClaim) Take(ctx context.Context, t retryqueue.Take) (retryqueue.Taken, error) {
	taken, err := b.Store.Take(ctx, t)
	if len(taken.Jobs) > 0 {
		b.clock.Add(-1)
	}
	return taken, err
}
