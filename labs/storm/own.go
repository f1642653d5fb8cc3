package storm

import (
	"context"
	"fmt"
	"time"

	"chaoslab/faults"
)

// Own is a partner in this process, on loopback.
type Own struct {
	partner          *faults.Partner
	healthy, failing faults.Spec
	url              string
}

// OwnConfig says what an Own does, each as faults.Parse reads it.
type OwnConfig struct{ Healthy, Failing string }

// Shape is what a partner can do: workers that each take Work for a request,
// and a queue before them.
type Shape struct {
	Workers, Queue int
	Work           time.Duration
}

// The shape of an Own that fits a load: it could take twice as much. Its
// queue holds what it does in a second, so a full one makes everybody wait for
// longer than any attempt lasts. It fails by being slow.
const (
	headroom    = 2
	usualWork   = 10 * time.Millisecond
	longestWork = 50 * time.Millisecond // where the load is small
	slower      = 10                    // times
)

// ShapeFor returns the shape for so many calls a second.
func ShapeFor(perSecond int) Shape {
	capacity := float64(headroom * perSecond)
	s := Shape{Workers: int(capacity*usualWork.Seconds() + 0.999), Work: usualWork}
	if s.Workers <= 1 {
		s.Workers, s.Work = 1, min(longestWork, time.Duration(float64(time.Second)/max(capacity, 1)).Round(time.Millisecond))
	}
	s.Queue = min(1<<16, int(s.Capacity()))
	return s
}

// Capacity is how many requests a second it can do at most.
func (s Shape) Capacity() float64 { return float64(s.Workers) / s.Work.Seconds() }

// Slow is s while it fails.
func (s Shape) Slow() Shape {
	s.Work *= slower
	return s
}

// spec is s as faults.Parse reads it. With drop, what nobody waits for any more
// is thrown out of the queue.
func (s Shape) spec(drop bool) string {
	what := "none"
	if drop {
		what = "both"
	}
	return fmt.Sprintf("overload:workers=%d,queue=%d,work=%v,retry-after=none,drop=%s", s.Workers, s.Queue, s.Work, what)
}

// OwnFor returns the partner that fits cfg, whose numbers must be complete. It
// drops what nobody waits for if it is told, so under Deadline.
func OwnFor(cfg Config) OwnConfig {
	s, drop := ShapeFor(cfg.Instances*cfg.Rate), cfg.Policy >= Deadline
	return OwnConfig{s.spec(drop), s.Slow().spec(drop)}
}

// The names of the listeners of an Own.
const (
	ownListener  = "storm"
	flatListener = "flat"
)

// ownLedger is how many entries its ledger keeps: what counts is counted.
const ownLedger = 1024

// StartOwn starts a partner. Close it.
func StartOwn(cfg OwnConfig) (*Own, error) {
	healthy, err := faults.Parse(cfg.Healthy)
	if err != nil {
		return nil, fmt.Errorf("healthy: %w", err)
	}
	failing, err := faults.Parse(cfg.Failing)
	if err != nil {
		return nil, fmt.Errorf("failing: %w", err)
	}
	flat, err := faults.Parse("status")
	if err != nil {
		return nil, err
	}
	p, err := faults.Start(faults.Config{
		Listeners: []faults.ListenerConfig{
			{Name: ownListener, Faults: []faults.Spec{healthy}},
			{Name: flatListener, Faults: []faults.Spec{flat}},
		},
		LedgerSize: ownLedger, NoPerRequest: true,
	})
	if err != nil {
		return nil, err
	}
	return &Own{p, healthy, failing, p.Listeners()[0].URL}, nil
}

// URL implements Partner.
func (o *Own) URL() string { return o.url }

// Set implements Partner.
func (o *Own) Set(_ context.Context, failing bool) error {
	spec := o.healthy
	if failing {
		spec = o.failing
	}
	return o.partner.Set(ownListener, []faults.Spec{spec}, 0)
}

// Counts implements Partner.
func (o *Own) Counts(context.Context) (Counts, error) {
	s := o.partner.Stats()[0]
	return Counts{s.Received, s.Processed, s.ClientsLeft, s.Orphaned}, nil
}

// Close ends the partner and everything on it, by the time ctx is done.
func (o *Own) Close(ctx context.Context) error { return o.partner.Close(ctx) }
