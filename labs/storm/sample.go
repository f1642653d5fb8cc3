package storm

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"time"
)

// Second is one second of a run, or what there is of it.
type Second struct {
	From, To time.Duration // since the run began
	Phase    Phase         // that it began in

	Due     int // calls that fell due
	First   int // first attempts that were sent
	Retried int // further attempts that were sent

	Partner Counts  // what the partner counted
	Rate    float64 // requests a second, as it counted them; as they were sent where nobody counts

	// What ended: calls answered in time, too late, or not at all; calls that
	// were not begun because too many were under way.
	Good, Late, Failed, Dropped int
	// Attempts that were not made: the retry throttle allowed no more, or the
	// breaker was open.
	Throttled, BreakerOpen int

	// Busy is how many processors this process kept busy, and Others how many
	// all others did; negative where the system does not tell.
	Busy, Others float64
}

// moment is what was read at one moment.
type moment struct {
	at     time.Duration
	counts Counts
	cpu    time.Duration // of this process
	idle   time.Duration // of all processors
}

// sampler reads the partner's counts each second.
type sampler struct {
	r         *run
	moments   []moment // from the run's beginning
	uncounted bool     // there are no counts
}

func newSampler(r *run, first Counts, uncounted bool) *sampler {
	return &sampler{r, []moment{{0, first, cpuTime(), idleTime()}}, uncounted}
}

// run reads at every full second until ctx is done, and once more then.
func (s *sampler) run(ctx context.Context) error {
	for n := 1; ; n++ {
		more := waitUntil(ctx, s.r.start.Add(time.Duration(n)*time.Second))
		if err := s.read(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		if s.r.cfg.Second != nil {
			s.r.cfg.Second(s.second(n))
		}
		if !more {
			return nil
		}
	}
}

func (s *sampler) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drain)
	defer cancel()
	var counts Counts
	if !s.uncounted {
		var err error
		if counts, err = s.r.cfg.Partner.Counts(ctx); err != nil {
			return err
		}
	}
	s.moments = append(s.moments, moment{time.Since(s.r.start), counts, cpuTime(), idleTime()})
	return nil
}

// drain waits until the partner has come to the end of what was left behind.
func (s *sampler) drain(ctx context.Context) error {
	if s.uncounted {
		return nil
	}
	const every = 100 * time.Millisecond
	end := time.Now().Add(drain)
	before, err := s.r.cfg.Partner.Counts(context.WithoutCancel(ctx))
	for err == nil && time.Now().Before(end) && waitUntil(ctx, time.Now().Add(every)) {
		now, failed := s.r.cfg.Partner.Counts(ctx)
		if failed != nil || now == before {
			break
		}
		before = now
	}
	return err
}

// second returns what there is of second n, from 1. What was read late is what
// was there a little later: in between, counts are taken to have grown evenly.
func (s *sampler) second(n int) Second {
	a, b := s.at(time.Duration(n-1)*time.Second), s.at(time.Duration(n)*time.Second)
	t := s.r.tally.at(a.at)
	out := Second{
		From: a.at, To: b.at, Phase: s.r.cfg.phaseAt(a.at),
		Due: int(t.due.Load()), First: int(t.first.Load()), Retried: int(t.retried.Load()),
		Partner: b.counts.since(a.counts),
		Good:    int(t.good.Load()), Late: int(t.late.Load()), Failed: int(t.failed.Load()), Dropped: int(t.dropped.Load()),
		Throttled: int(t.throttled.Load()), BreakerOpen: int(t.open.Load()),
		Busy: -1, Others: -1,
	}
	took := (b.at - a.at).Seconds()
	if took <= 0 {
		return out
	}
	out.Rate = float64(out.Partner.Received) / took
	if s.uncounted {
		out.Rate = float64(out.First+out.Retried) / took
	}
	if a.cpu >= 0 && b.cpu >= 0 {
		out.Busy = min((b.cpu-a.cpu).Seconds()/took, float64(runtime.NumCPU()))
	}
	if out.Busy >= 0 && a.idle >= 0 && b.idle >= 0 {
		out.Others = max(0, float64(runtime.NumCPU())-out.Busy-(b.idle-a.idle).Seconds()/took)
	}
	return out
}

// at returns how things stood at a time, or at the last moment if that is
// earlier.
func (s *sampler) at(t time.Duration) moment {
	i, exact := slices.BinarySearchFunc(s.moments, t, func(m moment, t time.Duration) int { return cmp.Compare(m.at, t) })
	switch {
	case exact:
		return s.moments[i]
	case i == len(s.moments):
		return s.moments[i-1]
	}
	a, b := s.moments[i-1], s.moments[i]
	share := float64(t-a.at) / float64(b.at-a.at)
	return moment{
		at: t, cpu: between(a.cpu, b.cpu, share), idle: between(a.idle, b.idle, share),
		counts: Counts{
			between(a.counts.Received, b.counts.Received, share), between(a.counts.Effects, b.counts.Effects, share),
			between(a.counts.ClientsLeft, b.counts.ClientsLeft, share), between(a.counts.Orphaned, b.counts.Orphaned, share),
		},
	}
}

// between returns what lies so far on the way from a to b.
func between[T uint64 | time.Duration](a, b T, share float64) T {
	return a + T(math.Round(float64(b-a)*share))
}

// seconds returns all seconds, the last of which may be shorter.
func (s *sampler) seconds() []Second {
	var all []Second
	for n := 1; time.Duration(n-1)*time.Second < s.moments[len(s.moments)-1].at; n++ {
		all = append(all, s.second(n))
	}
	return all
}
