package storm

import (
	"fmt"
	"strings"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/breaker"
	"chaoslab/budgetcaller/throttle"
)

// Policy is what an instance does when an attempt fails. Each one adds something
// to the one before it.
type Policy uint8

// The policies, in order.
const (
	None     Policy = iota // tries again at once
	Backoff                // waits, twice as long each time
	Jitter                 // waits a random part of that
	Throttle               // and retries no more than a share of its calls
	Breaker                // and stops calling while most calls fail
	Deadline               // and passes down when nobody waits any more
)

// Policies returns all of them, in order.
func Policies() []Policy { return []Policy{None, Backoff, Jitter, Throttle, Breaker, Deadline} }

// words returns the word for a policy and what it does.
func (p Policy) words() (string, string) {
	switch p {
	case None:
		return "none", "tries again at once"
	case Backoff:
		return "backoff", "waits before each retry, twice as long each time"
	case Jitter:
		return "jitter", "waits a random part of the backoff"
	case Throttle:
		return "throttle", "and retries no more than a tenth of its calls"
	case Breaker:
		return "breaker", "and stops calling while half of its calls fail"
	case Deadline:
		return "deadline", "and passes down how long it waits; the partner drops the rest"
	}
	return fmt.Sprintf("policy(%d)", uint8(p)), ""
}

// String returns the policy's word.
func (p Policy) String() string {
	word, _ := p.words()
	return word
}

// Summary says in one line what the policy does beside the one before it.
func (p Policy) Summary() string {
	_, what := p.words()
	return what
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (p *Policy) UnmarshalText(text []byte) error {
	var words []string
	for _, q := range Policies() {
		if q.String() == string(text) {
			*p = q
			return nil
		}
		words = append(words, q.String())
	}
	return fmt.Errorf("policy %q: one of %s", text, strings.Join(words, ", "))
}

// What the policies are made of. The breaker's wait is far below the usual 30 s,
// so that a run of seconds shows it closing again.
const (
	BackoffBase   = 100 * time.Millisecond
	BackoffCap    = time.Second
	ThrottleShare = 0.1
	BreakerWait   = time.Second

	leastWait = time.Millisecond // of the library: with full jitter, always zero
)

// dependency is how an instance with the policy calls its partner.
func (p Policy) dependency(attempts int, attempt time.Duration) budgetcaller.Dependency {
	d := budgetcaller.Dependency{
		Name:         "partner",
		Limits:       budgetcaller.Limits{Connect: attempt, Attempt: attempt},
		Retry:        budgetcaller.Retry{Attempts: attempts, Backoff: backoff.Config{Base: leastWait, Cap: leastWait}},
		KeepDeadline: p < Deadline,
	}
	if p >= Backoff {
		d.Retry.Backoff = backoff.Config{Base: BackoffBase, Cap: BackoffCap, Jitter: backoff.None}
	}
	if p >= Jitter {
		d.Retry.Backoff.Jitter = backoff.Full
	}
	if p >= Throttle {
		// What is allowed however few the calls adds up over the instances.
		d.Throttle = &throttle.Config{Share: ThrottleShare, MinPerSecond: 1}
	}
	if p >= Breaker {
		d.Breaker = &breaker.Config{WaitDurationInOpenState: BreakerWait}
	}
	return d
}

// budget is how long a call may take in all: under Deadline no longer than
// anybody waits for it, else as long as all its attempts and waits take.
func (p Policy) budget(attempts int, attempt, patience time.Duration) time.Duration {
	if p == Deadline {
		return patience
	}
	waits := time.Duration(0)
	if p >= Backoff {
		for n := 1; n < attempts; n++ {
			waits += min(BackoffCap, BackoffBase<<min(n-1, 20))
		}
	}
	return time.Duration(attempts)*attempt + waits + time.Second
}
