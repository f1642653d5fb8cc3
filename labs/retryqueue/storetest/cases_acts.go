package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"chaoslab/labs/retryqueue"
)

// redrive redrives one job.
func (s *store) redrive(a retryqueue.Act) (retryqueue.Job, error) {
	s.t.Helper()
	list, err := s.Redrive(s.t.Context(), []retryqueue.Act{a})
	if err != nil || len(list) != 1 {
		s.t.Fatalf("Redrive of %s: %d answers, %v, want one", a.ID, len(list), err)
	}
	if list[0].Err != nil && !strings.Contains(list[0].Err.Error(), "job "+a.ID+": ") {
		s.t.Errorf("Redrive of %s: got %v, want it to name the job", a.ID, list[0].Err)
	}
	return list[0].Job, list[0].Err
}

func redrive(t *testing.T, s *store) {
	ctx := t.Context()
	act := retryqueue.Act{ID: "a", At: 300, By: "me", MoreAttempts: 2, Deadline: deadline * 2}
	_, err := s.redrive(act)
	s.wantErr("unknown", err, retryqueue.ErrUnknownID)
	s.add(10, newJob("a"))
	_, err = s.redrive(act)
	s.wantErr("pending", err, retryqueue.ErrNotDead)
	s.claim(20, "a", 1)
	_, err = s.redrive(act)
	s.wantErr("leased", err, retryqueue.ErrNotDead)
	s.settle(30, dead("a", 1, 30, retryqueue.ReasonPermanent))

	j, err := s.redrive(act)
	if want := "pending none 1/5 avail=300 lease=0 dead=200000 added=10 final=0 lost=0"; err != nil || brief(j) != want {
		t.Errorf("Redrive: got %s, %v, want %s", brief(j), err, want)
	}
	s.want("a", brief(j))
	if s.settle(310, done("a", 1, 310)) {
		t.Error("the attempt of before the redrive may still settle")
	}
	s.claim(320, "a", 2)
	s.settle(330, done("a", 2, 330))
	_, err = s.redrive(act)
	s.wantErr("done", err, retryqueue.ErrNotDead)

	acts, err := s.Acts(ctx, "a")
	act.OldDeadline, act.OldReason = deadline, retryqueue.ReasonPermanent
	if err != nil || !slices.Equal(acts, []retryqueue.Act{act}) {
		t.Errorf("Acts: got %+v, %v, want %+v", acts, err, act)
	}
	s.check()
}

// redriveMany redrives what can be redriven and says of the others why not.
func redriveMany(t *testing.T, s *store) {
	ctx := t.Context()
	s.add(10, newJob("dead"), newJob("purged"), newJob("late"), newJob("open"))
	s.take(20, 3)
	s.take(30, 0, dead("dead", 1, 30, retryqueue.ReasonPermanent), dead("purged", 1, 30, retryqueue.ReasonExhausted), dead("late", 1, 40, retryqueue.ReasonDeadline))
	if n, err := s.Purge(ctx, 31, nil); n != 2 || err != nil {
		t.Errorf("Purge: got %d, %v", n, err)
	}
	s.add(35, newJob("dead-2"))
	s.claim(40, "open", 1)
	s.claim(40, "dead-2", 1)
	s.settle(41, dead("dead-2", 1, 41, retryqueue.ReasonPermanent))
	act := func(id string) retryqueue.Act {
		return retryqueue.Act{ID: id, At: 300, By: "me", MoreAttempts: 2, Deadline: deadline * 2}
	}
	list, err := s.Redrive(ctx, []retryqueue.Act{act("late"), act("none"), act("purged"), act("open"), act("dead-2"), act("late")})
	if err != nil || len(list) != 6 {
		t.Fatalf("got %d answers, %v, want 6", len(list), err)
	}
	for i, want := range []error{nil, retryqueue.ErrUnknownID, retryqueue.ErrPurged, retryqueue.ErrNotDead, nil, retryqueue.ErrNotDead} {
		s.wantErr(fmt.Sprint("act ", i), list[i].Err, want)
		if j := list[i].Job; want == nil && (brief(j) != brief(s.get(j.ID)) || j.State != retryqueue.Pending || len(j.Payload) > 0) {
			t.Errorf("act %d: got %+v, want it as it is in the store, without its payload", i, j)
		}
	}
	s.want("late", "pending none 1/5 avail=300 lease=0 dead=200000 added=10 final=0 lost=0")
	s.want("open", "leased none 1/3 avail=0 lease=1040 dead=100000 added=10 final=0 lost=0")
	for id, want := range map[string]int{"late": 1, "dead-2": 1, "purged": 0, "open": 0} {
		if acts, err := s.Acts(ctx, id); len(acts) != want || err != nil {
			t.Errorf("Acts of %s: got %+v, %v, want %d", id, acts, err, want)
		}
	}
	if list, err := s.Redrive(ctx, nil); len(list) != 0 || err != nil {
		t.Errorf("none: got %+v, %v", list, err)
	}
	s.check()
}

func purge(t *testing.T, s *store) {
	ctx := t.Context()
	s.add(10, newJob("old"), newJob("dead"), newJob("young"), newJob("open"))
	s.take(20, 4)
	s.take(30, 0, done("old", 1, 30), dead("dead", 1, 30, retryqueue.ReasonPermanent), done("young", 1, 31), back("open", 1, 25))
	for _, want := range []int{2, 0} {
		looked := 0
		n, err := s.Purge(ctx, 31, func(n int) { looked += n })
		if n != want || looked != 4 || err != nil {
			t.Errorf("Purge: got %d after a look at %d, %v, want %d of 4", n, looked, err, want)
		}
	}
	for id, purged := range map[string]bool{"old": true, "dead": true, "young": false, "open": false} {
		if j := s.get(id); j.Purged != purged || (len(j.Payload) == 0) != purged {
			t.Errorf("%s: purged %v with %d bytes, want %v", id, j.Purged, len(j.Payload), purged)
		}
	}
	if got := s.add(40, newJob("old")); got[0].New || got[0].Differs {
		t.Errorf("Add of a purged id: got %+v, want it known", got)
	}
	_, err := s.redrive(retryqueue.Act{ID: "dead", At: 50, MoreAttempts: 1, Deadline: deadline * 2})
	s.wantErr("Redrive of a purged job", err, retryqueue.ErrPurged)
	s.claim(50, "open", 2)
	s.check()
}

func list(t *testing.T, s *store) {
	ctx := t.Context()
	s.add(10, newJob("c"), newJob("a"), newJob("b"), newJob("d"))
	s.take(20, 2)
	s.take(30, 0, done("c", 1, 30), dead("a", 1, 30, retryqueue.ReasonPermanent))
	for _, c := range []struct {
		name   string
		filter retryqueue.Filter
		want   string
	}{
		{"all", retryqueue.Filter{}, "[c a b d]"},
		{"first page", retryqueue.Filter{Limit: 3}, "[c a b]"},
		{"next page", retryqueue.Filter{Limit: 3, After: "b"}, "[d]"},
		{"by state", retryqueue.Filter{States: []retryqueue.State{retryqueue.Done, retryqueue.Pending}}, "[c b d]"},
		{"by reason", retryqueue.Filter{Reasons: []retryqueue.Reason{retryqueue.ReasonPermanent}}, "[a]"},
		{"none", retryqueue.Filter{Reasons: []retryqueue.Reason{retryqueue.ReasonDeadline}}, "[]"},
	} {
		jobs, err := s.List(ctx, c.filter)
		ids := []string{}
		for _, j := range jobs {
			ids = append(ids, j.ID)
			if len(j.Payload) > 0 || j.Purged {
				t.Errorf("%s: %s has a payload of %d bytes, purged %v, want neither", c.name, j.ID, len(j.Payload), j.Purged)
			}
		}
		if got := fmt.Sprint(ids); got != c.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}

func stats(t *testing.T, s *store) {
	jobs := []retryqueue.NewJob{}
	for i := range 8 {
		j := newJob(fmt.Sprint("j", i))
		j.MaxAttempts = 1 + i%2
		jobs = append(jobs, j)
	}
	for i, j := range jobs {
		s.add(retryqueue.Millis(10+i), j)
	}
	s.take(100, 5)
	s.take(110, 0, done("j0", 1, 110), dead("j1", 1, 110, retryqueue.ReasonPermanent), dead("j2", 1, 110, retryqueue.ReasonExhausted), back("j3", 1, 5000))
	s.take(1200, 2) // j5 and j6; j4 was due before them and had no attempt left
	got, err := s.Stats(t.Context(), 1200)
	want := retryqueue.Stats{At: 1200, Pending: 2, Leased: 2, Done: 1, DeadExhausted: 2, DeadPermanent: 1, Attempts: 7, LeasesLost: 1, OldestAdded: 13, OldestDue: 17}
	// j4 is ended only when a claim comes to it.
	if got.DeadExhausted == 1 {
		want.DeadExhausted, want.Leased, want.LeasesLost = 1, 3, 0
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if got.Age() != 1187e6 || got.Overdue() != 1183e6 || got.Dead() != want.Dead() {
		t.Errorf("ages: got %v and %v, want 1.187s and 1.183s", got.Age(), got.Overdue())
	}
	s.check()
}

// note writes the error of an attempt down that leaves its job leased.
func note(t *testing.T, s *store) {
	noted := func(attempt int, text string) retryqueue.Settlement {
		return retryqueue.Settlement{ID: "a", Attempt: attempt, State: retryqueue.Leased, Error: text}
	}
	two := newJob("a")
	two.MaxAttempts = 2
	s.add(10, two)
	s.claim(20, "a", 1)
	const leased = "leased none 1/2 avail=0 lease=1020 dead=100000 added=10 final=0 lost=0"
	for _, c := range []struct {
		attempt int
		counts  bool
		want    string
	}{{1, true, "odd"}, {2, false, "odd"}} {
		if got := s.settle(30, noted(c.attempt, c.want)); got != c.counts {
			t.Errorf("a note on attempt %d: counted %v, want %v", c.attempt, got, c.counts)
		}
		s.want("a", leased)
		if got := s.get("a").LastError; got != c.want {
			t.Errorf("last error: got %q, want %q", got, c.want)
		}
	}
	s.claim(1020, "a", 2) // the error of the attempt before stays until there is another
	s.take(1030, 0, noted(2, "odder"), done("unknown", 1, 1030))
	s.idle(2020)
	s.want("a", "dead exhausted 2/2 avail=0 lease=0 dead=100000 added=10 final=2020 lost=2")
	if got, want := s.get("a").LastError, "the lease ran out; the last error: odder"; got != want {
		t.Errorf("last error: got %q, want %q", got, want)
	}
	if s.settle(2030, noted(2, "too late")) || s.get("a").LastError == "too late" {
		t.Error("a note on a job that is dead counted")
	}
	s.check()
}

func noID(t *testing.T, s *store) {
	for _, id := range []string{"", "a\x00b", "\xff", "a b", strings.Repeat("x", retryqueue.MaxID+1)} {
		_, getErr := s.Get(t.Context(), id)
		_, actsErr := s.Acts(t.Context(), id)
		_, listErr := s.List(t.Context(), retryqueue.Filter{After: id})
		for what, err := range map[string]error{"Get": getErr, "Acts": actsErr, "List": listErr} {
			if what == "List" && id == "" {
				continue // from the first
			}
			if err == nil || !strings.Contains(err.Error(), "id: ") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
				t.Errorf("%s(%q): got %v, want one line that says what is wrong with the id", what, id, err)
			}
		}
	}
}

// concurrent lets many take and settle at the same time: no claim is made twice.
func concurrent(t *testing.T, s *store) {
	const jobs, takers = 60, 6
	for i := range jobs {
		s.add(10, newJob(fmt.Sprint("j", i)))
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for i := range takers {
		wg.Go(func() {
			var settle []retryqueue.Settlement
			for {
				taken, err := s.Take(t.Context(), retryqueue.Take{Now: 20, Settle: settle, Claim: 1 + i%3, LeaseUntil: 1020})
				if err != nil || len(taken.Lost) > 0 {
					t.Errorf("Take: lost %v, %v", taken.Lost, err)
					return
				}
				if len(taken.Jobs) == 0 {
					return
				}
				settle = nil
				for _, j := range taken.Jobs {
					mu.Lock()
					seen[fmt.Sprint(j.ID, "#", j.Attempts)]++
					mu.Unlock()
					settle = append(settle, done(j.ID, j.Attempts, 20))
					if j.Attempts == 1 {
						settle[len(settle)-1] = back(j.ID, 1, 20)
					}
				}
			}
		})
	}
	wg.Wait()
	for claim, n := range seen {
		if n != 1 {
			t.Errorf("%s was claimed %d times", claim, n)
		}
	}
	if len(seen) != 2*jobs {
		t.Errorf("%d claims, want %d", len(seen), 2*jobs)
	}
	s.check()
}
