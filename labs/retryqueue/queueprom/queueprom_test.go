package queueprom

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	jobs := []retryqueue.NewJob{}
	for _, id := range []string{"a", "b", "c"} {
		jobs = append(jobs, retryqueue.NewJob{ID: id, Deadline: 90_000, MaxAttempts: 2})
	}
	if _, err := store.Add(t.Context(), 1000, jobs); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Take(t.Context(), retryqueue.Take{Now: 2000, Claim: 2, LeaseUntil: 50_000}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Take(t.Context(), retryqueue.Take{Now: 3000, Settle: []retryqueue.Settlement{{ID: "a", Attempt: 1, State: retryqueue.Dead, Reason: retryqueue.ReasonPermanent, At: 3000}}}); err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewPedanticRegistry()
	m, err := New(reg, store, func() retryqueue.Millis { return 3500 })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(reg, store, nil); err == nil {
		t.Error("registered twice: no error")
	}
	m.Observe(retryqueue.Report{Outcome: retryqueue.GivenUp, Took: 3 * time.Millisecond, Ended: make([]retryqueue.Job, 2)})
	m.Observe(retryqueue.Report{Outcome: retryqueue.Lost, Err: errors.New("x")})
	m.Observe(retryqueue.Report{Outcome: retryqueue.Idle})
	want := `
# HELP retryqueue_attempts_total Attempts claimed, by all workers ever.
# TYPE retryqueue_attempts_total counter
retryqueue_attempts_total 2
# HELP retryqueue_dead_jobs Jobs in the store that were given up, by reason.
# TYPE retryqueue_dead_jobs gauge
retryqueue_dead_jobs{reason="deadline"} 0
retryqueue_dead_jobs{reason="exhausted"} 0
retryqueue_dead_jobs{reason="permanent"} 1
# HELP retryqueue_jobs Jobs in the store that are not dead, by state.
# TYPE retryqueue_jobs gauge
retryqueue_jobs{state="done"} 0
retryqueue_jobs{state="leased"} 1
retryqueue_jobs{state="pending"} 1
# HELP retryqueue_leases_lost_total Leases that ran out and were noticed, of all workers ever.
# TYPE retryqueue_leases_lost_total counter
retryqueue_leases_lost_total 0
# HELP retryqueue_oldest_pending_seconds Age of the oldest pending job, since it was added and since it is due.
# TYPE retryqueue_oldest_pending_seconds gauge
retryqueue_oldest_pending_seconds{since="added"} 2.5
retryqueue_oldest_pending_seconds{since="due"} 2.5
# HELP retryqueue_outcomes_total Steps of this process, by what became of the job.
# TYPE retryqueue_outcomes_total counter
retryqueue_outcomes_total{outcome="dead"} 1
retryqueue_outcomes_total{outcome="ended"} 2
retryqueue_outcomes_total{outcome="lost"} 1
`
	names := []string{"retryqueue_attempts_total", "retryqueue_dead_jobs", "retryqueue_jobs", "retryqueue_leases_lost_total", "retryqueue_oldest_pending_seconds", "retryqueue_outcomes_total"}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(m.took); n != 1 {
		t.Errorf("%d histograms, want 1", n)
	}
	_ = store.Close()
	if _, err := reg.Gather(); err == nil {
		t.Error("a store that cannot be read: the scrape did not fail")
	}
}
