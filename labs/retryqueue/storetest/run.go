package storetest

import (
	"errors"
	"fmt"
	"testing"

	"chaoslab/labs/retryqueue"
)

// Open makes an empty store that is closed when the test ends.
type Open func(t *testing.T) retryqueue.Store

// Run runs every case, each in a store of its own.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *store)
	}{
		{"a known id changes nothing", knownID},
		{"jobs handed in are all in or none", allOrNone},
		{"an attempt is spent when it is claimed", attemptSpent},
		{"a lease ends at the deadline", leaseEndsAtDeadline},
		{"only the claim in force may settle", fence},
		{"a final state is final", final},
		{"a job put back is not taken before its time", putBack},
		{"a deadline that passed while nobody worked spends no attempt", deadlineUnworked},
		{"the last lease that ran out ends the job", lastLease},
		{"what must be ended does not hide what can be sent", endedAhead},
		{"a lease is renewed by its owner only", renew},
		{"settling and claiming are one step", settleAndClaim},
		{"the oldest due comes first", order},
		{"only the dead are redriven, and nothing is reset", redrive},
		{"many are redriven together, and each is told of", redriveMany},
		{"purge drops payloads and keeps ids", purge},
		{"pages of a list", list},
		{"stats tell the states apart", stats},
		{"many claim at the same time", concurrent},
		{"a batch of one settles what it can", partlyLost},
		{"a note changes nothing but the error", note},
		{"what can be no id is said", noID},
		{"the clock goes back while workers send", clockBackInSend},
		{"the clock goes back between claim and send", clockBackAtClaim},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, &store{t, open(t)})
		})
	}
}

// store is a Store whose errors end the test.
type store struct {
	t *testing.T
	retryqueue.Store
}

const (
	lease    = 1000
	deadline = 100_000
)

func newJob(id string) retryqueue.NewJob {
	return retryqueue.NewJob{ID: id, Payload: []byte("payload of " + id), Deadline: deadline, MaxAttempts: 3}
}

func (s *store) add(now retryqueue.Millis, jobs ...retryqueue.NewJob) []retryqueue.Added {
	s.t.Helper()
	for _, j := range jobs {
		if err := j.Check(now); err != nil {
			s.t.Fatalf("the test's own job: %v", err)
		}
	}
	added, err := s.Add(s.t.Context(), now, jobs)
	if err != nil || len(added) != len(jobs) {
		s.t.Fatalf("Add at %d: %d answers for %d jobs, %v", now, len(added), len(jobs), err)
	}
	return added
}

// take settles and claims until there is nothing more to end.
func (s *store) take(now retryqueue.Millis, claim int, settle ...retryqueue.Settlement) retryqueue.Taken {
	s.t.Helper()
	var ended []retryqueue.Job
	for {
		taken, err := s.Take(s.t.Context(), retryqueue.Take{Now: now, Settle: settle, Claim: claim, LeaseUntil: now + lease})
		if err != nil {
			s.t.Fatalf("Take at %d: %v", now, err)
		}
		ended = append(ended, taken.Ended...)
		if taken.Ended = ended; !taken.More {
			return taken
		}
		settle = nil
	}
}

// claim takes one job, which must be id in that attempt.
func (s *store) claim(now retryqueue.Millis, id string, attempt int) retryqueue.Job {
	s.t.Helper()
	taken := s.take(now, 1)
	if len(taken.Jobs) != 1 || taken.Jobs[0].ID != id || taken.Jobs[0].Attempts != attempt {
		s.t.Fatalf("claim at %d: got %+v, want %s in attempt %d", now, taken.Jobs, id, attempt)
	}
	return taken.Jobs[0]
}

func (s *store) idle(now retryqueue.Millis) retryqueue.Taken {
	s.t.Helper()
	taken := s.take(now, 1)
	if len(taken.Jobs) != 0 {
		s.t.Fatalf("claim at %d: got %+v, want nothing", now, taken.Jobs)
	}
	return taken
}

// settle writes down an outcome and says whether it counted.
func (s *store) settle(now retryqueue.Millis, x retryqueue.Settlement) bool {
	s.t.Helper()
	return len(s.take(now, 0, x).Lost) == 0
}

func done(id string, attempt int, at retryqueue.Millis) retryqueue.Settlement {
	return retryqueue.Settlement{ID: id, Attempt: attempt, State: retryqueue.Done, At: at}
}

func back(id string, attempt int, due retryqueue.Millis) retryqueue.Settlement {
	return retryqueue.Settlement{ID: id, Attempt: attempt, State: retryqueue.Pending, Due: due, Error: "try again"}
}

func dead(id string, attempt int, at retryqueue.Millis, r retryqueue.Reason) retryqueue.Settlement {
	return retryqueue.Settlement{ID: id, Attempt: attempt, State: retryqueue.Dead, Reason: r, At: at, Error: "no"}
}

func (s *store) get(id string) retryqueue.Job {
	s.t.Helper()
	j, err := s.Get(s.t.Context(), id)
	if err != nil {
		s.t.Fatalf("Get(%s): %v", id, err)
	}
	return j
}

// want compares the job as it is in the store with what it should be.
func (s *store) want(id, want string) {
	s.t.Helper()
	if got := brief(s.get(id)); got != want {
		s.t.Errorf("job %s: got %q, want %q", id, got, want)
	}
}

// brief is all of a job but its payload and its error.
func brief(j retryqueue.Job) string {
	return fmt.Sprintf("%v %v %d/%d avail=%d lease=%d dead=%d added=%d final=%d lost=%d",
		j.State, j.Reason, j.Attempts, j.MaxAttempts, j.AvailableAt, j.LeaseUntil, j.Deadline, j.EnqueuedAt, j.FinishedAt, j.LeasesLost)
}

func (s *store) wantErr(what string, got, want error) {
	s.t.Helper()
	if !errors.Is(got, want) {
		s.t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

func (s *store) check() {
	s.t.Helper()
	if err := s.Check(s.t.Context()); err != nil {
		s.t.Errorf("Check: %v", err)
	}
}
