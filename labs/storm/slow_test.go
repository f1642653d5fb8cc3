package storm

import (
	"context"
	"testing"
	"time"
)

// One slow partner takes the whole service down, or does not.
func TestR8SlowPartner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		limit  time.Duration
		others [2]int // percent of those that do not need the partner: from, to
	}{
		{"generous", 3 * time.Second, [2]int{0, 40}},
		{"tight", 60 * ms, [2]int{60, 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rep, err := RunSlow(t.Context(), SlowConfig{
				Workers: 3, Usual: 10 * ms, Slow: 1500 * ms, Limit: c.limit, Needs: 20, Others: 20,
				Patience: 400 * ms, Healthy: 500 * ms, Failure: 3500 * ms,
			})
			if err != nil {
				t.Fatal(err)
			}
			f := rep.Failing
			percent := 100 * f.Others.Good / f.Others.Due
			if percent < c.others[0] || percent > c.others[1] {
				t.Errorf("%d %% of the others were good, want %d to %d; %+v", percent, c.others[0], c.others[1], f)
			}
			if f.Needs.Due != 70 || f.Others.Due != 70 || f.Needs.Good != 0 {
				t.Errorf("%d and %d were due, %d good, want 70 each, and none that need the partner good", f.Needs.Due, f.Others.Due, f.Needs.Good)
			}
			if least := min(1500*ms, c.limit); f.Hold < least || f.Could > f.AtMost {
				t.Errorf("a worker was held for %v, want at least %v; could end %v/s of at most %v", f.Hold, least, f.Could, f.AtMost)
			}
		})
	}
}

func TestSlowIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	rep, err := RunSlow(ctx, SlowConfig{Slow: 30 * time.Second, Limit: time.Minute, Patience: 20 * time.Second, Failure: time.Minute, Healthy: 200 * ms})
	if err != nil || !rep.Interrupted {
		t.Errorf("got %+v, %v, want it interrupted", rep, err)
	}
	if took := time.Since(start); took > time.Second+slack {
		t.Errorf("it ended after %v, want soon after 1s", took)
	}
}
