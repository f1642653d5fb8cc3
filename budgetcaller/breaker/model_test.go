package breaker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// model is the breaker as its documentation describes it, slow and plain.
type model struct {
	cfg      Config
	state    State
	period   int
	outcomes []Outcome // closed: all of this period; half-open: of the trial calls
	out      int
	opened   time.Time
	admitted time.Time
}

func (m *model) move(to State, now time.Time) {
	m.state, m.outcomes, m.out = to, nil, 0
	m.period++
	if to == Open {
		m.opened = now
	}
}

func (m *model) tooManyFailed(outcomes []Outcome) bool {
	failed := 0
	for _, o := range outcomes {
		if o == Failure {
			failed++
		}
	}
	return float64(failed)*100/float64(len(outcomes)) >= m.cfg.FailureRateThreshold
}

func (m *model) admit(now time.Time) error {
	if m.state == Open && now.Sub(m.opened) >= m.cfg.WaitDurationInOpenState {
		m.move(HalfOpen, now)
	}
	switch {
	case m.state == Closed:
		return nil
	case m.state == Open:
		return ErrOpen
	case len(m.outcomes)+m.out < m.cfg.PermittedNumberOfCallsInHalfOpenState:
		m.out++
		m.admitted = now
		return nil
	case now.Sub(m.admitted) >= m.cfg.MaxProbeDuration:
		m.move(Open, now)
		return ErrOpen
	}
	return ErrHalfOpen
}

func (m *model) giveBack(period int, o Outcome, now time.Time) {
	if period != m.period {
		return
	}
	m.out--
	if o == Neutral {
		return
	}
	m.outcomes = append(m.outcomes, o)
	if m.state == Closed {
		last := m.last()
		if len(last) >= m.cfg.MinimumNumberOfCalls && m.tooManyFailed(last) {
			m.move(Open, now)
		}
	} else if len(m.outcomes) == m.cfg.PermittedNumberOfCallsInHalfOpenState {
		if m.tooManyFailed(m.outcomes) {
			m.move(Open, now)
		} else {
			m.move(Closed, now)
		}
	}
}

func (m *model) last() []Outcome {
	return m.outcomes[max(0, len(m.outcomes)-m.cfg.SlidingWindowSize):]
}

// steps drives a breaker and the model through what ops say, a byte a step, and
// returns the first step at which they differ.
func steps(cfg Config, ops []byte) error {
	b, err := New(cfg)
	if err != nil {
		return err
	}
	type held struct {
		permit *Permit
		period int
	}
	m, now, calls := &model{cfg: b.Config()}, start(), []held(nil)
	for i, op := range ops {
		what, arg := op%8, int(op/8)
		period := m.period
		var change *Change
		switch {
		case what < 3: // admit
			var permit Permit
			var err error
			permit, change, err = b.Admit(now)
			if want := m.admit(now); !errors.Is(err, want) {
				return fmt.Errorf("step %d: Admit = %v, want %v; %+v", i, err, want, b.Snapshot())
			}
			if err == nil {
				calls = append(calls, held{&permit, m.period})
			}
		case what < 7 && len(calls) > 0: // give one back
			k := arg % len(calls)
			call := calls[k]
			calls = append(calls[:k], calls[k+1:]...)
			outcome := []Outcome{Success, Failure, Failure, Neutral}[what-3]
			change = call.permit.Record(now, outcome)
			m.giveBack(call.period, outcome, now)
		case what == 7: // time passes
			now = now.Add(time.Duration(arg) * 10 * ms)
		}
		if err := differ(b, m, change, m.period-period); err != nil {
			return fmt.Errorf("step %d of %v: %w", i, ops[:i+1], err)
		}
	}
	return nil
}

func differ(b *Breaker, m *model, change *Change, changes int) error {
	s := b.Snapshot()
	if s.State != m.state || s.Period != uint64(m.period) || (change != nil) != (changes > 0) {
		return fmt.Errorf("%+v after change %v, want %v in period %d", s, change, m.state, m.period)
	}
	calls := -1
	switch m.state {
	case Closed:
		calls = len(m.last())
	case HalfOpen:
		calls = len(m.outcomes)
		if s.Trials != m.out {
			return fmt.Errorf("%+v, want %d trial calls under way", s, m.out)
		}
	}
	if calls >= 0 && s.Calls != calls {
		return fmt.Errorf("%+v, want %d calls", s, calls)
	}
	return nil
}

func config(size, minimum, threshold, permitted byte) Config {
	cfg := Config{
		MinimumNumberOfCalls:                  1 + int(minimum)%70,
		FailureRateThreshold:                  1 + float64(threshold%100),
		WaitDurationInOpenState:               200 * ms,
		PermittedNumberOfCallsInHalfOpenState: 1 + int(permitted)%5,
		MaxProbeDuration:                      400 * ms,
	}
	cfg.SlidingWindowSize = cfg.MinimumNumberOfCalls + int(size)%70
	return cfg
}

func TestTheBreakerIsTheModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		ops := make([]byte, 1000)
		for i := range ops {
			ops[i] = byte(rng.Uint32())
		}
		small := 1 + byte(rng.Uint32N(20)) // small numbers reach every state sooner
		cfg := config(byte(rng.Uint32())%small, byte(rng.Uint32())%small, byte(rng.Uint32()), byte(rng.Uint32()))
		if err := steps(cfg, ops); err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, cfg, err)
		}
	}
}

func FuzzBreaker(f *testing.F) {
	f.Add(byte(0), byte(0), byte(49), byte(0), []byte{0, 4, 255, 0, 4, 255, 0, 3, 0, 6})
	f.Add(byte(5), byte(2), byte(49), byte(2), []byte{0, 0, 0, 4, 4, 4, 255, 0, 0, 0, 0, 3, 3, 4, 255})
	f.Fuzz(func(t *testing.T, size, minimum, threshold, permitted byte, ops []byte) {
		cfg := config(size, minimum, threshold, permitted)
		if err := steps(cfg, ops[:min(len(ops), 5000)]); err != nil {
			t.Fatalf("%+v: %v", cfg, err)
		}
	})
}
