package storm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Config sets up a run. Each zero field has the default named beside it.
type Config struct {
	Instances int    // of the calling service. Zero: 20
	Rate      int    // calls a second of each instance. Zero: 100
	Attempts  int    // of one call, at most. Zero: 5
	Policy    Policy // Zero: None

	// Attempt is the limit of one attempt. Zero: 500 ms.
	Attempt time.Duration
	// Patience is how long anybody waits for a call. A call that was answered in
	// it is good; one that was answered later is late. Zero: 1 s.
	Patience time.Duration

	// The length of the run: healthy, then failing, then healed. Zero: 2 s, 3 s
	// and 6 s.
	Healthy, Failure, Recovery time.Duration

	Partner Partner // what is called; required
	Seed    uint64  // of the jitter. Zero: random

	// Second, if set, is told of each second when it is over.
	Second func(Second)
}

// Partner is what is called, and what is broken and healed.
type Partner interface {
	// URL is where it is called.
	URL() string
	// Set makes it fail, or heals it.
	Set(ctx context.Context, failing bool) error
	// Counts tells what has happened to it so far, or returns ErrUncounted.
	Counts(ctx context.Context) (Counts, error)
}

// ErrUncounted is what Partner.Counts returns where nobody counts. A Report then
// has what was sent, and nothing of what became of it.
var ErrUncounted = errors.New("nobody counts what arrives")

// Counts are what a partner has counted since it was started.
type Counts struct {
	Received    uint64        // requests
	Effects     uint64        // that were carried out
	ClientsLeft uint64        // whose client left before they had ended
	Orphaned    time.Duration // work done after that
}

func (c Counts) since(before Counts) Counts {
	return Counts{
		c.Received - before.Received, c.Effects - before.Effects,
		c.ClientsLeft - before.ClientsLeft, c.Orphaned - before.Orphaned,
	}
}

func (c Counts) plus(more Counts) Counts {
	return Counts{
		c.Received + more.Received, c.Effects + more.Effects,
		c.ClientsLeft + more.ClientsLeft, c.Orphaned + more.Orphaned,
	}
}

// The bounds of a run.
const (
	MaxInstances = 1000
	MaxRate      = 10_000           // calls a second of one instance
	MaxAttempts  = 100              // of one call
	MaxLoad      = 50_000           // requests a second that may arrive: the three multiplied
	MaxCalls     = 500_000          // in one run
	MaxLength    = 5 * time.Minute  // of one run
	MaxWait      = 30 * time.Second // Attempt and Patience

	maxUnderWay    = 16_384 // calls
	maxConnections = 8_000  // both ends may be ours: two descriptors each
)

// Load is what arrives at the partner each second if every call fails at each of
// its attempts.
func (c Config) Load() int { return c.Instances * c.Rate * c.Attempts }

// Length is how long the run takes, but for what is under way at its end.
func (c Config) Length() time.Duration { return c.Healthy + c.Failure + c.Recovery }

// Calls is how many calls fall due in the run.
func (c Config) Calls() int {
	return int(int64(c.Instances*c.Rate) * int64(c.Length()) / int64(time.Second))
}

// Complete returns c with its zero fields filled in, or an error that names the
// first field that is out of range.
func (c Config) Complete() (Config, error) {
	for _, f := range []struct {
		name       string
		value      *int
		zero, most int
	}{
		{"Instances", &c.Instances, 20, MaxInstances},
		{"Rate", &c.Rate, 100, MaxRate},
		{"Attempts", &c.Attempts, 5, MaxAttempts},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < 1 || *f.value > f.most {
			return c, fmt.Errorf("%s: %d is out of range: from 1 to %d", f.name, *f.value, f.most)
		}
	}
	for _, f := range []struct {
		name       string
		value      *time.Duration
		zero, most time.Duration
	}{
		{"Attempt", &c.Attempt, 500 * time.Millisecond, MaxWait},
		{"Patience", &c.Patience, time.Second, MaxWait},
		{"Healthy", &c.Healthy, 2 * time.Second, MaxLength},
		{"Failure", &c.Failure, 3 * time.Second, MaxLength},
		{"Recovery", &c.Recovery, 6 * time.Second, MaxLength},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < time.Millisecond || *f.value > f.most {
			return c, fmt.Errorf("%s: %v is out of range: from 1ms to %v", f.name, *f.value, f.most)
		}
	}
	switch {
	case c.Load() > MaxLoad:
		return c, fmt.Errorf("%d instances x %d/s x %d attempts are up to %d requests/s: at most %d", c.Instances, c.Rate, c.Attempts, c.Load(), MaxLoad)
	case c.Length() > MaxLength:
		return c, fmt.Errorf("the run would take %v: at most %v", c.Length(), MaxLength)
	case c.Calls() > MaxCalls:
		return c, fmt.Errorf("%d calls fall due in %v: at most %d", c.Calls(), c.Length(), MaxCalls)
	case c.Policy > Deadline:
		return c, fmt.Errorf("Policy: %v is unknown", c.Policy)
	case c.Partner == nil:
		return c, errors.New("Partner: there is none to call")
	}
	return c, nil
}

// Phase is a part of a run.
type Phase uint8

// The phases, in order. Ending is what was still under way when no more calls
// fell due.
const (
	Healthy Phase = iota
	Failure
	Recovery
	Ending
)

// String returns healthy, failure, recovery or ending.
func (p Phase) String() string {
	return [...]string{"healthy", "failure", "recovery", "ending"}[min(p, Ending)]
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// phaseAt says in which phase the moment at lies.
func (c Config) phaseAt(at time.Duration) Phase {
	switch {
	case at < c.Healthy:
		return Healthy
	case at < c.Healthy+c.Failure:
		return Failure
	case at < c.Length():
		return Recovery
	}
	return Ending
}
