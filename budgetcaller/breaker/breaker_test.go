package breaker

import (
	"errors"
	"testing"
	"time"
)

const ms = time.Millisecond

// start is the moment at which all tests begin.
func start() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }

func newBreaker(t testing.TB, cfg Config) *Breaker {
	t.Helper()
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call makes one call whose outcome is known, and reports whether it was let
// through.
func call(b *Breaker, now time.Time, outcome Outcome) bool {
	permit, _, err := b.Admit(now)
	defer permit.Release()
	if err != nil {
		return false
	}
	permit.Record(now, outcome)
	return true
}

// mustAdmit returns the permit of a call that has to be let through.
func mustAdmit(t *testing.T, b *Breaker, now time.Time) *Permit {
	t.Helper()
	permit, _, err := b.Admit(now)
	if err != nil {
		t.Fatalf("Admit = %v, want a permit; %+v", err, b.Snapshot())
	}
	return &permit
}

func wantState(t *testing.T, b *Breaker, when string, state State, reason Reason) {
	t.Helper()
	if s := b.Snapshot(); s.State != state || s.Reason != reason {
		t.Errorf("%s: %v by %v, want %v by %v; %+v", when, s.State, s.Reason, state, reason, s)
	}
}

// opened returns a breaker that is open since start, and lets one failure be
// enough for it.
func opened(t *testing.T, cfg Config) *Breaker {
	t.Helper()
	cfg.MinimumNumberOfCalls = 1
	b := newBreaker(t, cfg)
	call(b, start(), Failure)
	wantState(t, b, "after one failure", Open, FailureRate)
	return b
}

// The reference: at least 20 calls, 50 percent, 30 s, 3 trial calls.
func TestDefaults(t *testing.T) {
	t.Parallel()
	b, now := newBreaker(t, Config{}), start()
	for i := range 20 {
		wantState(t, b, "before 20 calls", Closed, Start)
		call(b, now, []Outcome{Failure, Success}[i%2])
	}
	wantState(t, b, "10 of 20 failed", Open, FailureRate)
	if call(b, now.Add(30*time.Second-1), Success) {
		t.Error("a call was let through before 30 s")
	}
	now = now.Add(30 * time.Second)
	for i := range 3 {
		if !call(b, now, Success) {
			t.Errorf("trial call %d was not let through after 30 s", i+1)
		}
	}
	wantState(t, b, "3 trial calls went well", Closed, ProbesPassed)
	if s := b.Snapshot(); s.Calls != 0 || s.Failures != 0 {
		t.Errorf("closed again with %d of %d failures in the window, want an empty one", s.Failures, s.Calls)
	}
}

func TestHalfOpenIsDecidedWhenAllTrialCallsAreBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		permitted int
		threshold float64
		outcomes  []Outcome
		want      State
	}{
		{"none of 3", 3, 50, []Outcome{Success, Success, Success}, Closed},
		{"1 of 3", 3, 50, []Outcome{Failure, Success, Success}, Closed},
		{"2 of 3", 3, 50, []Outcome{Failure, Success, Failure}, Open},
		{"1 of 2 is the threshold", 2, 50, []Outcome{Success, Failure}, Open},
		{"1 of 3 at a third", 3, 100.0 / 3, []Outcome{Failure, Success, Success}, Open},
		{"1 of 3 above a third", 3, 33.34, []Outcome{Failure, Success, Success}, Closed},
		{"2 of 3 at 100", 3, 100, []Outcome{Failure, Failure, Success}, Closed},
		{"3 of 3 at 100", 3, 100, []Outcome{Failure, Failure, Failure}, Open},
		{"neutral ones are made good for", 2, 50, []Outcome{Neutral, Failure, Neutral, Neutral, Failure}, Open},
		{"not all back", 3, 50, []Outcome{Failure, Failure, Neutral}, HalfOpen},
	} {
		b := opened(t, Config{PermittedNumberOfCallsInHalfOpenState: c.permitted, FailureRateThreshold: c.threshold})
		now := start().Add(DefaultWaitDurationInOpenState)
		for i, o := range c.outcomes {
			if !call(b, now, o) {
				t.Errorf("%s: trial call %d was refused", c.name, i+1)
			}
			if s := b.Snapshot(); i < len(c.outcomes)-1 && s.State != HalfOpen {
				t.Errorf("%s: %v after %d of %v, want half_open", c.name, s.State, i+1, c.outcomes)
			}
		}
		if s := b.Snapshot(); s.State != c.want {
			t.Errorf("%s: %d permitted, threshold %v, %v: %v, want %v", c.name, c.permitted, c.threshold, c.outcomes, s.State, c.want)
		}
	}
}

func TestAnOutcomeCountsOnlyInItsPeriod(t *testing.T) {
	t.Parallel()
	cfg := Config{MinimumNumberOfCalls: 2, SlidingWindowSize: 2, WaitDurationInOpenState: time.Second, PermittedNumberOfCallsInHalfOpenState: 1}
	b, now := newBreaker(t, cfg), start()
	closed := mustAdmit(t, b, now)
	call(b, now, Failure)
	call(b, now, Failure)
	wantState(t, b, "2 failures", Open, FailureRate)

	now = now.Add(time.Second)
	trial := mustAdmit(t, b, now)
	if !trial.Trial() {
		t.Error("Trial() = false for a trial call")
	}
	if c := closed.Record(now, Success); c != nil {
		t.Errorf("a call of the closed period closed the half-open breaker: %v", c)
	}
	wantState(t, b, "late success", HalfOpen, WaitOver)
	if s := b.Snapshot(); s.Trials != 1 || s.Calls != 0 {
		t.Errorf("after a late success: %d trial calls under way, %d back, want 1 and 0", s.Trials, s.Calls)
	}
	trial.Record(now, Success)
	wantState(t, b, "trial call went well", Closed, ProbesPassed)
	closed2, late := mustAdmit(t, b, now), mustAdmit(t, b, now)
	call(b, now, Failure)
	call(b, now, Failure)
	now = now.Add(time.Second)
	trial = mustAdmit(t, b, now)
	late.Release()
	closed2.Record(now, Neutral)
	if s := b.Snapshot(); s.Trials != 1 {
		t.Errorf("after late releases: %d trial calls under way, want 1", s.Trials)
	}
	trial.Release()
}

func TestAPermitCountsOnce(t *testing.T) {
	t.Parallel()
	b := newBreaker(t, Config{})
	p := mustAdmit(t, b, start())
	p.Record(start(), Failure)
	p.Record(start(), Failure)
	p.Release()
	if s := b.Snapshot(); s.Calls != 1 || s.Failures != 1 {
		t.Errorf("recorded three times: %d of %d failed, want 1 of 1", s.Failures, s.Calls)
	}

	b = opened(t, Config{PermittedNumberOfCallsInHalfOpenState: 2})
	now := start().Add(DefaultWaitDurationInOpenState)
	p, other := mustAdmit(t, b, now), mustAdmit(t, b, now)
	p.Release()
	p.Release()
	p.Record(now, Failure)
	if s := b.Snapshot(); s.Trials != 1 || s.Calls != 0 || p.Trial() || !other.Trial() {
		t.Errorf("released twice: %d trial calls under way and %d back, want 1 and 0", s.Trials, s.Calls)
	}

	var zero Permit
	zero.Release()
	if c := zero.Record(now, Failure); c != nil || zero.Trial() {
		t.Errorf("the zero Permit: Record = %v, Trial = %v, want nil, false", c, zero.Trial())
	}
}

// A failure in the window leaves it when the window has moved past it.
func TestTheWindowSlides(t *testing.T) {
	t.Parallel()
	b := newBreaker(t, Config{SlidingWindowSize: 70, MinimumNumberOfCalls: 70})
	for range 34 {
		call(b, start(), Failure)
	}
	for i := range 70 {
		call(b, start(), Success)
		want := 34 - max(0, i+1-36)
		if s := b.Snapshot(); s.Failures != want || s.Calls != min(70, 35+i) {
			t.Fatalf("after 34 failures and %d successes: %d of %d failed, want %d of %d", i+1, s.Failures, s.Calls, want, min(70, 35+i))
		}
	}
}

func TestNeutralIsNotCounted(t *testing.T) {
	t.Parallel()
	b := newBreaker(t, Config{MinimumNumberOfCalls: 1})
	for _, o := range []Outcome{Neutral, Outcome(3), Outcome(255)} {
		if !call(b, start(), o) {
			t.Errorf("%v: not let through", o)
		}
	}
	if s := b.Snapshot(); s != (Snapshot{}) {
		t.Errorf("after neutral outcomes: %+v, want the zero Snapshot", s)
	}
}

func TestNilAndZeroBreakersAreAlwaysClosed(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*Breaker{"nil": nil, "zero": {}} {
		for range 200 {
			if !call(b, start(), Failure) {
				t.Fatalf("%s: a call was refused", name)
			}
		}
		if s, cfg := b.Snapshot(), b.Config(); s != (Snapshot{}) || cfg != (Config{}) {
			t.Errorf("%s: %+v, %+v, want nothing", name, s, cfg)
		}
	}
}

func TestAClockThatIsSetBackRestartsTheWait(t *testing.T) {
	t.Parallel()
	b := opened(t, Config{PermittedNumberOfCallsInHalfOpenState: 1, MaxProbeDuration: time.Minute})
	back := start().Add(-24 * time.Hour)
	for _, c := range []struct {
		at   time.Duration
		want error
	}{{0, ErrOpen}, {DefaultWaitDurationInOpenState - 1, ErrOpen}, {DefaultWaitDurationInOpenState, nil}} {
		if _, _, err := b.Admit(back.Add(c.at)); !errors.Is(err, c.want) {
			t.Errorf("a day back and %v on: Admit = %v, want %v", c.at, err, c.want)
		}
	}
	back = back.Add(-24 * time.Hour)
	for _, c := range []struct {
		at   time.Duration
		want error
	}{{0, ErrHalfOpen}, {time.Minute - 1, ErrHalfOpen}, {time.Minute, ErrOpen}} {
		if _, _, err := b.Admit(back.Add(c.at)); !errors.Is(err, c.want) {
			t.Errorf("trial call lost, two days back and %v on: Admit = %v, want %v", c.at, err, c.want)
		}
	}
	wantState(t, b, "trial call lost", Open, ProbesLost)
}

// Callers read the clock before they ask, so a moment just past is no step.
func TestCallersMayDifferAboutThePresent(t *testing.T) {
	t.Parallel()
	b := opened(t, Config{})
	if call(b, start().Add(-clockSlack), Success) {
		t.Error("let through before it had opened")
	}
	if call(b, start().Add(DefaultWaitDurationInOpenState-clockSlack), Success) {
		t.Error("the wait was cut short")
	}
	if !call(b, start().Add(DefaultWaitDurationInOpenState), Success) {
		t.Error("the wait was drawn out")
	}
}
