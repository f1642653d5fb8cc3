package breaker

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// partner answers as scripted, one outcome a call, then with the last one, and
// counts the calls that reach it.
type partner struct {
	script  []Outcome
	reached int
}

func (p *partner) answer() Outcome {
	o := p.script[min(p.reached, len(p.script)-1)]
	p.reached++
	return o
}

// callPartner makes one call and returns nil or why it was not made.
func callPartner(b *Breaker, p *partner, now time.Time) error {
	permit, _, err := b.Admit(now)
	defer permit.Release()
	if err != nil {
		return err
	}
	permit.Record(now, p.answer())
	return nil
}

func times(n int, o Outcome) []Outcome {
	all := make([]Outcome, n)
	for i := range all {
		all[i] = o
	}
	return all
}

func TestB10WhenTheBreakerMayJudge(t *testing.T) {
	t.Parallel()
	cfg := Config{SlidingWindowSize: 20, MinimumNumberOfCalls: 10, FailureRateThreshold: 50}
	for _, c := range []struct {
		name     string
		script   []Outcome
		openFrom int // the first call that does not reach the partner
	}{
		{"a: failures only", times(20, Failure), 11},
		{"b: 5 successes, 5 failures: opens at the threshold", append(times(5, Success), times(6, Failure)...), 11},
		{"c: 6 successes, 4 failures, then 2 failures", append(times(6, Success), times(7, Failure)...), 13},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, p := newBreaker(t, cfg), &partner{script: c.script}
			for n := 1; n <= len(c.script); n++ {
				var want error
				if n >= c.openFrom {
					want = ErrOpen
				}
				if err := callPartner(b, p, start()); !errors.Is(err, want) {
					t.Fatalf("call %d of %v: %v, want %v; %+v", n, c.script, err, want, b.Snapshot())
				}
			}
			if p.reached != c.openFrom-1 {
				t.Errorf("%d calls reached the partner, want %d", p.reached, c.openFrom-1)
			}
		})
	}
	t.Run("d: window 5, minimum 10", func(t *testing.T) {
		t.Parallel()
		if b, err := New(Config{SlidingWindowSize: 5, MinimumNumberOfCalls: 10}); err == nil {
			t.Errorf("New = %+v, want an error", b.Config())
		}
	})
}

// B11: cool-down 500 ms, one trial call, which takes 300 ms.
func TestB11HalfOpenLetsOneProbeThroughAndItAlwaysEnds(t *testing.T) {
	t.Parallel()
	const coolDown, attempt = 500 * ms, 300 * ms
	for _, c := range []struct {
		name   string
		finish func(p *Permit, now time.Time) // how the trial call ends
		after  State
		reason Reason
	}{
		{"read timeout", func(p *Permit, now time.Time) { p.Record(now, Failure) }, Open, ProbesFailed},
		{"404", func(p *Permit, now time.Time) { p.Record(now, Success) }, Closed, ProbesPassed},
		{"canceled", func(p *Permit, now time.Time) { p.Record(now, Neutral) }, HalfOpen, WaitOver},
		{"panic", func(p *Permit, _ time.Time) {
			defer func() { _ = recover() }()
			defer p.Release()
			panic("in the caller's own response function")
		}, HalfOpen, WaitOver},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := opened(t, Config{WaitDurationInOpenState: coolDown, PermittedNumberOfCallsInHalfOpenState: 1})
			now := start().Add(coolDown)
			probe := oneOfTen(t, b, now)
			now = now.Add(attempt)
			c.finish(probe, now)
			wantState(t, b, "after the trial call", c.after, c.reason)

			now = now.Add(coolDown)
			probe = mustAdmit(t, b, now)
			probe.Record(now, Success)
			if s := b.Snapshot(); s.State != Closed {
				t.Errorf("the partner is well again one cool-down later: %v, want closed", s.State)
			}
		})
	}
}

// oneOfTen makes ten calls at once, of which exactly one must be let through.
func oneOfTen(t *testing.T, b *Breaker, now time.Time) *Permit {
	t.Helper()
	permits, errs := make([]Permit, 10), make([]error, 10)
	var wg sync.WaitGroup
	for i := range permits {
		wg.Go(func() { permits[i], _, errs[i] = b.Admit(now) })
	}
	wg.Wait()
	var probe *Permit
	for i, err := range errs {
		switch {
		case err == nil && probe != nil:
			t.Fatal("more than one of ten calls was let through")
		case err == nil:
			probe = &permits[i]
		case !errors.Is(err, ErrHalfOpen):
			t.Errorf("call %d of ten: %v, want %v", i, err, ErrHalfOpen)
		}
	}
	if probe == nil {
		t.Fatal("none of ten calls was let through")
	}
	return probe
}

// B11: a trial call that nobody gives back does not hold the breaker half-open
// for ever: it counts as failed, and after the next wait another is let in.
func TestB11AProbeThatIsNeverGivenBack(t *testing.T) {
	t.Parallel()
	b := opened(t, Config{WaitDurationInOpenState: 500 * ms, PermittedNumberOfCallsInHalfOpenState: 2, MaxProbeDuration: time.Minute})
	now := start().Add(500 * ms)
	call(b, now, Success)
	lost := mustAdmit(t, b, now)
	now = now.Add(time.Minute)
	if _, _, err := b.Admit(now.Add(-1)); !errors.Is(err, ErrHalfOpen) {
		t.Errorf("before MaxProbeDuration: %v, want %v", err, ErrHalfOpen)
	}
	_, change, err := b.Admit(now)
	if want := "half_open -> open: probes_lost, 1 of 2 calls failed"; !errors.Is(err, ErrOpen) || change == nil || change.String() != want {
		t.Errorf("after it: %v, change %v, want %v and %q", err, change, ErrOpen, want)
	}
	now = now.Add(500 * ms)
	probe := mustAdmit(t, b, now)
	if c := lost.Record(now, Success); c != nil {
		t.Errorf("the lost trial call still counts: %v", c)
	}
	probe.Record(now, Success)
	call(b, now, Success)
	wantState(t, b, "two trial calls went well", Closed, ProbesPassed)
}
