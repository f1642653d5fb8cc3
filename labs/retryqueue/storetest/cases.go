package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"chaoslab/labs/retryqueue"
)

func knownID(t *testing.T, s *store) {
	s.add(10, newJob("a"))
	s.claim(20, "a", 1)
	other := newJob("a")
	other.Payload, other.Deadline, other.MaxAttempts = []byte("other"), deadline*2, 9
	later, more := newJob("a"), newJob("a")
	later.Deadline++
	more.MaxAttempts++
	got := s.add(30, newJob("a"), other, newJob("b"), newJob("b"), later, more)
	want := []retryqueue.Added{
		{ID: "a", State: retryqueue.Leased},
		{ID: "a", State: retryqueue.Leased, Differs: true, DiffersIn: "payload, deadline, max_attempts"},
		{ID: "b", New: true},
		{ID: "b"},
		{ID: "a", State: retryqueue.Leased, DiffersIn: "deadline"},
		{ID: "a", State: retryqueue.Leased, DiffersIn: "max_attempts"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("Add: got %+v, want %+v", got, want)
	}
	s.want("a", "leased none 1/3 avail=0 lease=1020 dead=100000 added=10 final=0 lost=0")
	s.take(40, 0, done("a", 1, 40))
	if got := s.add(50, newJob("a")); got[0].New || got[0].State != retryqueue.Done {
		t.Errorf("Add of a job that is done: got %+v", got)
	}
	s.want("a", "done none 1/3 avail=0 lease=0 dead=100000 added=10 final=40 lost=0")
	s.check()
}

func allOrNone(t *testing.T, s *store) {
	jobs := []retryqueue.NewJob{newJob("a"), newJob("b")}
	jobs[1].MaxAttempts = -1 // only a caller that does not check hands this in
	if _, err := s.Add(t.Context(), 10, jobs); err == nil {
		t.Error("Add of a job with -1 attempts: no error")
	}
	_, err := s.Get(t.Context(), "a")
	s.wantErr("Get of the job before it", err, retryqueue.ErrUnknownID)
	empty := newJob("c")
	empty.Payload = nil
	s.add(10, empty)
	if j := s.get("c"); j.Purged || len(j.Payload) != 0 {
		t.Errorf("a job without payload: got %+v, want it empty and not purged", j)
	}
	s.check()
}

func attemptSpent(_ *testing.T, s *store) {
	s.add(10, newJob("a"))
	s.want("a", "pending none 0/3 avail=10 lease=0 dead=100000 added=10 final=0 lost=0")
	if j := s.claim(20, "a", 1); string(j.Payload) != "payload of a" {
		s.t.Errorf("payload: got %q", j.Payload)
	}
	s.want("a", "leased none 1/3 avail=0 lease=1020 dead=100000 added=10 final=0 lost=0")
	s.idle(1019)
	s.claim(1020, "a", 2) // the lease ran out: taken over
	s.want("a", "leased none 2/3 avail=0 lease=2020 dead=100000 added=10 final=0 lost=1")
}

func leaseEndsAtDeadline(_ *testing.T, s *store) {
	s.add(10, newJob("a"))
	s.claim(deadline-1, "a", 1)
	s.want("a", "leased none 1/3 avail=0 lease=100000 dead=100000 added=10 final=0 lost=0")
	s.idle(deadline)
	s.want("a", "dead deadline 1/3 avail=0 lease=0 dead=100000 added=10 final=100000 lost=1")
}

func fence(t *testing.T, s *store) {
	s.add(10, newJob("a"))
	s.claim(20, "a", 1)
	s.claim(1020, "a", 2)
	for _, x := range []retryqueue.Settlement{
		done("a", 1, 1030), back("a", 1, 1030), dead("a", 1, 1030, retryqueue.ReasonPermanent),
		done("a", 3, 1030), done("unknown", 1, 1030),
	} {
		if s.settle(1030, x) {
			t.Errorf("settle %+v while attempt 2 is under way: it counted", x)
		}
	}
	s.want("a", "leased none 2/3 avail=0 lease=2020 dead=100000 added=10 final=0 lost=1")
	// Nobody has taken it over: a late word of its owner still counts.
	if !s.settle(5000, done("a", 2, 5000)) {
		t.Error("settle after the lease, not taken over: it did not count")
	}
	s.check()
}

func final(t *testing.T, s *store) {
	for _, c := range []struct {
		id string
		by retryqueue.Settlement
	}{
		{"done", done("done", 1, 30)},
		{"dead", dead("dead", 1, 30, retryqueue.ReasonPermanent)},
	} {
		s.add(10, newJob(c.id))
		s.claim(20, c.id, 1)
		if !s.settle(30, c.by) {
			t.Fatalf("settle %+v: it did not count", c.by)
		}
		before := brief(s.get(c.id))
		for _, x := range []retryqueue.Settlement{done(c.id, 1, 40), back(c.id, 1, 40), dead(c.id, 1, 40, retryqueue.ReasonExhausted)} {
			if s.settle(40, x) {
				t.Errorf("settle %+v of a job that is final: it counted", x)
			}
		}
		s.idle(50)
		s.idle(deadline + 1)
		s.want(c.id, before)
		_, err := s.Renew(t.Context(), c.id, 1, 2000)
		s.wantErr("Renew of a final job", err, retryqueue.ErrLeaseLost)
	}
	s.check()
}

func putBack(_ *testing.T, s *store) {
	later := newJob("later")
	later.AvailableAt = 500
	s.add(10, later)
	if taken := s.idle(499); taken.Next != 500 {
		s.t.Errorf("next: got %d, want 500", taken.Next)
	}
	s.claim(500, "later", 1)
	s.settle(600, back("later", 1, 700))
	s.want("later", "pending none 1/3 avail=700 lease=0 dead=100000 added=10 final=0 lost=0")
	if got := s.get("later").LastError; got != "try again" {
		s.t.Errorf("last error: got %q", got)
	}
	s.idle(699)
	s.claim(700, "later", 2)
}

func deadlineUnworked(t *testing.T, s *store) {
	s.add(10, newJob("a"))
	taken := s.idle(deadline)
	if len(taken.Ended) != 1 || taken.Ended[0].ID != "a" || taken.Next != 0 {
		t.Errorf("claim at the deadline: got %+v, want a ended and nothing next", taken)
	}
	s.want("a", "dead deadline 0/3 avail=0 lease=0 dead=100000 added=10 final=100000 lost=0")
	s.check()
}

func lastLease(t *testing.T, s *store) {
	one := newJob("a")
	one.MaxAttempts = 1
	s.add(10, one)
	s.claim(20, "a", 1)
	taken := s.idle(deadline + 5) // out of time, too: attempts are asked first
	if len(taken.Ended) != 1 {
		t.Errorf("ended: got %+v", taken.Ended)
	}
	s.want("a", "dead exhausted 1/1 avail=0 lease=0 dead=100000 added=10 final=100005 lost=1")
	if s.settle(deadline+6, done("a", 1, deadline+6)) {
		t.Error("settle after the job was ended: it counted")
	}
	s.check()
}

func endedAhead(t *testing.T, s *store) {
	var jobs []retryqueue.NewJob
	for i := range 700 {
		jobs = append(jobs, newJob(fmt.Sprintf("old-%03d", i)))
	}
	s.add(10, jobs[:350]...)
	s.add(10, jobs[350:]...)
	live := newJob("live")
	live.Deadline = deadline * 2
	s.add(20, live)
	first, err := s.Take(t.Context(), retryqueue.Take{Now: deadline, Claim: 1, LeaseUntil: deadline + lease})
	if err != nil || !first.More || len(first.Jobs) > 0 || len(first.Ended) == 0 || len(first.Ended) > 500 {
		t.Errorf("first Take: %d claimed, %d ended, more %v, %v: want a bounded part ended, and more", len(first.Jobs), len(first.Ended), first.More, err)
	}
	taken := s.take(deadline, 4)
	if len(taken.Jobs) != 1 || taken.Jobs[0].ID != "live" || len(first.Ended)+len(taken.Ended) != 700 {
		t.Errorf("got %+v claimed and %d + %d ended, want live and 700", taken.Jobs, len(first.Ended), len(taken.Ended))
	}
	s.check()
}

func renew(t *testing.T, s *store) {
	s.add(10, newJob("a"))
	s.claim(20, "a", 1)
	for _, c := range []struct{ until, want retryqueue.Millis }{{1500, 1500}, {deadline * 3, deadline}, {2000, 2000}} {
		got, err := s.Renew(t.Context(), "a", 1, c.until)
		if err != nil || got != c.want {
			t.Errorf("Renew until %d: got %d, %v, want %d", c.until, got, err, c.want)
		}
	}
	s.idle(1999)
	s.claim(2000, "a", 2)
	for _, attempt := range []int{1, 3} {
		_, err := s.Renew(t.Context(), "a", attempt, 9000)
		s.wantErr(fmt.Sprint("Renew of attempt ", attempt), err, retryqueue.ErrLeaseLost)
	}
	_, err := s.Renew(t.Context(), "unknown", 1, 9000)
	s.wantErr("Renew of an unknown id", err, retryqueue.ErrLeaseLost)
	s.want("a", "leased none 2/3 avail=0 lease=3000 dead=100000 added=10 final=0 lost=1")
}

func order(t *testing.T, s *store) {
	for i, id := range []string{"c", "a", "b"} {
		s.add(retryqueue.Millis(10+i), newJob(id))
	}
	s.add(20, newJob("d"), newJob("e"))
	var got []string
	for range 5 {
		got = append(got, s.take(30, 1).Jobs[0].ID)
	}
	if text := strings.Join(got, " "); text != "c a b d e" {
		t.Errorf("order: got %s, want c a b d e", text)
	}
}

func settleAndClaim(t *testing.T, s *store) {
	s.add(10, newJob("a"), newJob("b"), newJob("c"))
	s.claim(20, "a", 1)
	taken := s.take(30, 2, done("a", 1, 30))
	if len(taken.Lost) != 0 || len(taken.Jobs) != 2 {
		t.Fatalf("got %+v, want two claimed", taken)
	}
	// One job goes back due at once, and is claimed again in the same step.
	taken = s.take(40, 1, back("b", 1, 40), done("c", 1, 40))
	if len(taken.Jobs) != 1 || taken.Jobs[0].ID != "b" || taken.Jobs[0].Attempts != 2 {
		t.Errorf("got %+v, want b in attempt 2", taken)
	}
	s.check()
}

func partlyLost(t *testing.T, s *store) {
	s.add(10, newJob("a"), newJob("b"), newJob("c"))
	s.take(20, 3)
	taken := s.take(30, 0, done("a", 1, 30), done("b", 7, 30), dead("c", 1, 30, retryqueue.ReasonExhausted))
	if !slices.Equal(taken.Lost, []int{1}) {
		t.Errorf("lost: got %v, want the second", taken.Lost)
	}
	for id, state := range map[string]retryqueue.State{"a": retryqueue.Done, "b": retryqueue.Leased, "c": retryqueue.Dead} {
		if got := s.get(id).State; got != state {
			t.Errorf("%s: got %v, want %v", id, got, state)
		}
	}
}
