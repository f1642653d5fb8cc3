package breaker

import (
	"encoding/json"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{[]State{Closed, Open, HalfOpen, 3}, `["closed","open","half_open","state(3)"]`},
		{[]Outcome{Neutral, Success, Failure, 3}, `["neutral","success","failure","outcome(3)"]`},
		{[]Reason{Start, FailureRate, WaitOver, ProbesFailed, ProbesLost, ProbesPassed, 6}, `["start","failure_rate","wait_over","probes_failed","probes_lost","probes_passed","reason(6)"]`},
	} {
		if got, err := json.Marshal(c.value); string(got) != c.want || err != nil {
			t.Errorf("json.Marshal(%v) = %s, %v, want %s", c.value, got, err, c.want)
		}
	}
}

func TestChangesAndSnapshotsTellWhatHappened(t *testing.T) {
	t.Parallel()
	b := newBreaker(t, Config{MinimumNumberOfCalls: 4, PermittedNumberOfCallsInHalfOpenState: 2})
	now := start()
	for _, o := range []Outcome{Success, Failure, Success} {
		call(b, now, o)
	}
	change := mustAdmit(t, b, now).Record(now, Failure)
	if want := (Change{Closed, Open, FailureRate, 1, now, 4, 2}); change == nil || *change != want {
		t.Fatalf("the fourth call: change %+v, want %+v", change, want)
	}
	call(b, now, Success)
	until := now.Add(DefaultWaitDurationInOpenState)
	if got, want := b.Snapshot(), (Snapshot{Open, FailureRate, now, 1, 4, 2, 0, 1, until}); got != want {
		t.Errorf("open: %+v, want %+v", got, want)
	}
	if got := b.Snapshot().FailureRate(); got != 50 {
		t.Errorf("FailureRate() = %v, want 50", got)
	}

	permit, change, err := b.Admit(until)
	if want := (Change{Open, HalfOpen, WaitOver, 2, until, 0, 0}); err != nil || change == nil || *change != want {
		t.Fatalf("after the wait: change %+v, %v, want %+v", change, err, want)
	}
	if got, want := change.String(), "open -> half_open: wait_over"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	if got, want := b.Snapshot(), (Snapshot{HalfOpen, WaitOver, until, 2, 0, 0, 1, 1, time.Time{}}); got != want {
		t.Errorf("half-open: %+v, want %+v", got, want)
	}
	permit.Record(until, Success)
	change = mustAdmit(t, b, until).Record(until, Success)
	if got, want := change.String(), "half_open -> closed: probes_passed, 0 of 2 calls failed"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	if got, want := b.Snapshot(), (Snapshot{Closed, ProbesPassed, until, 3, 0, 0, 0, 1, time.Time{}}); got != want {
		t.Errorf("closed again: %+v, want %+v", got, want)
	}
	if got := b.Snapshot().FailureRate(); got != 0 {
		t.Errorf("FailureRate() without calls = %v, want 0", got)
	}
}
