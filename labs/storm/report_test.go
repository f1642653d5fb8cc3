package storm

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestRecovery(t *testing.T) {
	t.Parallel()
	// 100 calls/s for 4 s; the partner is well from 1 s on.
	const perSecond, length, healed = 100, 4 * time.Second, time.Second
	p := pace{perSecond}
	for _, c := range []struct {
		name string
		good func(due time.Duration) bool
		want Recovered
	}{
		{"at once", func(due time.Duration) bool { return due >= healed }, Recovered{0, true}},
		{"it never failed", func(time.Duration) bool { return true }, Recovered{0, true}},
		{"after 700 ms", func(due time.Duration) bool { return due >= 1700*ms }, Recovered{700 * ms, true}},
		{"never", func(time.Duration) bool { return false }, Recovered{}},
		{"and fell back", func(due time.Duration) bool { return due >= 1500*ms && (due < 2*time.Second || due >= 2200*ms) }, Recovered{1200 * ms, true}},
		{"too late to be sure", func(due time.Duration) bool { return due >= 3200*ms }, Recovered{}},
		{"just in time", func(due time.Duration) bool { return due >= 3*time.Second }, Recovered{2 * time.Second, true}},
		{"9 of 10 are enough", func(due time.Duration) bool { return due%(100*ms) != 50*ms }, Recovered{0, true}},
		{"8 of 10 are not", func(due time.Duration) bool { return due%(50*ms) != 20*ms }, Recovered{}},
	} {
		calls := make([]call, perSecond*int(length/time.Second))
		for n := range calls {
			calls[n].fate = failed
			if c.good(p.due(n)) {
				calls[n].fate = good
			}
		}
		if got := recovery(calls, p, healed, length); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := recovery(nil, p, healed, length); got.Ok {
		t.Errorf("without calls: got %+v, want nothing", got)
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	var all []time.Duration
	for n := range 200 {
		all = append(all, time.Duration(n+1))
	}
	for _, c := range []struct {
		p    int
		want time.Duration
	}{{50, 100}, {99, 198}, {100, 200}, {0, 1}} {
		if got := percentile(all, c.p); got != c.want {
			t.Errorf("p%d of 1 to 200: %d, want %d", c.p, got, c.want)
		}
	}
	if got := percentile(nil, 50); got != 0 {
		t.Errorf("p50 of nothing: %v, want 0", got)
	}
}

// Readings that came late are spread over the seconds they are about.
func TestSecondsOfLateReadings(t *testing.T) {
	t.Parallel()
	cfg, err := Config{Partner: &Own{}}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{cfg: cfg, tally: newTally(time.Now(), 0, cfg.Length())}
	read := func(at time.Duration, received uint64) moment {
		return moment{at: at, counts: Counts{Received: received}, cpu: -1, idle: -1}
	}
	s := &sampler{r, []moment{read(0, 5), read(time.Second, 105), read(2500*ms, 255), read(3*time.Second, 305), read(3250*ms, 315)}, false}
	var got []float64
	total := uint64(0)
	for _, sec := range s.seconds() {
		got = append(got, sec.Rate)
		total += sec.Partner.Received
	}
	if fmt.Sprint(got) != "[100 100 100 40]" || total != 310 {
		t.Errorf("requests/s by second: %v, %d in all, want [100 100 100 40], 310", got, total)
	}
}

func TestProcessorTimes(t *testing.T) {
	t.Parallel()
	if idleTime() == 0 {
		t.Error("no processor ever had nothing to do: rather it should say that it does not know")
	}
	if a, b := cpuTime(), cpuTime(); a > b {
		t.Errorf("processor time went back from %v to %v", a, b)
	}
}

// Where nobody counts, what was sent is the rate and the peak, and nothing is
// said about what arrived.
func TestUncounted(t *testing.T) {
	t.Parallel()
	own, err := StartOwn(OwnConfig{Healthy: "ok", Failing: "status"})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close(context.Background()) //nolint:errcheck // it ends with the process at the latest
	rep, err := Run(t.Context(), Config{
		Instances: 2, Rate: 20, Attempts: 3, Partner: uncounted{own}, Attempt: 10 * time.Second, Patience: 20 * time.Second,
		Healthy: 500 * time.Millisecond, Failure: time.Second, Recovery: 500 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !rep.Uncounted || rep.Partner != (Counts{}) || rep.Attempts.Unaccounted != 0 {
		t.Errorf("uncounted %v, at the partner %+v, unaccounted %d, want true and nothing", rep.Uncounted, rep.Partner, rep.Attempts.Unaccounted)
	}
	sent := 0.0
	for _, s := range rep.Seconds {
		sent += s.Rate * (s.To - s.From).Seconds()
	}
	if want := rep.Attempts.First + rep.Attempts.Retried; rep.Attempts.First != 80 || rep.Attempts.Retried < 40 || int(sent+0.5) != want || rep.Peak <= 0 {
		t.Errorf("%d first, %d retried, rates of %.1f in all, peak %v; want 80, some, the sum, and more than 0", rep.Attempts.First, rep.Attempts.Retried, sent, rep.Peak)
	}
}

// uncounted is a partner that does not tell.
type uncounted struct{ *Own }

func (uncounted) Counts(context.Context) (Counts, error) { return Counts{}, ErrUncounted }
