package layers

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"chaoslab/budgetcaller/backoff"
)

// The bounds of a chain. What is beyond them is a mistake in the unit.
const (
	MaxLayers  = 100
	MaxRetries = 99
	MaxName    = 100 // bytes
	MaxLimit   = 366 * 24 * time.Hour
	MaxLoad    = 1_000_000_000 // instances, or requests a second of each
)

// Length is a length of time and why it is what it is. One without a reason
// works but is warned about: nobody dares to change it later.
type Length struct {
	D      time.Duration
	Reason string
}

// For returns d with its reason.
func For(d time.Duration, reason string) Length { return Length{d, reason} }

// Count is a number and why it is what it is.
type Count struct {
	N      int
	Reason string
}

// Chain is layers that call each other, from the outside in.
type Chain struct {
	// Name stands in reports. It may be empty.
	Name string
	// Instances of the outermost layer and the requests that each makes in a
	// second. Both zero: the load is not asked about.
	Instances, PerSecond Count
	// Layers, the outermost first.
	Layers []Layer
}

// Layer is one of them: how it calls the one inside.
type Layer struct {
	// Name must be unique in the chain.
	Name string
	// Limit of one try, above 0 and at most MaxLimit. For the innermost layer it
	// bounds its own work.
	Limit Length
	// Retries after the first try, at most MaxRetries. Zero: none.
	Retries Count
	// Waits between all tries together, at most MaxLimit. Where Backoff is set
	// they follow from it.
	Waits Length
	// Backoff makes the waits: the longest that its jitter allows. Nil: none.
	Backoff *Backoff
	// Deadline says where its limit starts.
	Deadline Deadline
}

// Backoff doubles the wait from Base up to Cap, as package backoff does.
type Backoff struct {
	Base, Cap time.Duration // in whole milliseconds
	Reason    string
}

// Deadline says whether a layer knows how long the one outside will wait.
type Deadline uint8

// The kinds of Deadline.
const (
	// Afresh starts the layer's own limit each time it is called. It is the
	// default, as it is what a configured timeout does.
	Afresh Deadline = iota
	// Adopted ends the layer's work, all tries together, when the deadline
	// passed down from outside comes, if that is before its own limits.
	Adopted
)

// String returns "afresh" or "adopted".
func (d Deadline) String() string {
	if d == Adopted {
		return "adopted"
	}
	return "afresh"
}

// tries is how often the layer calls inward at most, for one call to it.
func (l Layer) tries() int { return l.Retries.N + 1 }

// waits is the longest that all waits between its tries can take together.
func (l Layer) waits() (time.Duration, error) {
	if l.Backoff == nil {
		return l.Waits.D, nil
	}
	sum := time.Duration(0)
	for n := 1; n <= l.Retries.N; n++ {
		window, err := backoff.Delay(l.Backoff.Base, l.Backoff.Cap, n, 1)
		if err != nil {
			return 0, err
		}
		sum += window
	}
	return sum, nil
}

// Check says what of the chain is out of range, nil if nothing is.
func (c Chain) Check() error {
	if n := len(c.Layers); n == 0 || n > MaxLayers {
		return fmt.Errorf("%d layers: from 1 to %d", n, MaxLayers)
	}
	if len(c.Name) > MaxName || strings.ContainsFunc(c.Name, unprintable) {
		return fmt.Errorf("name: %.20q: at most %d bytes that can be printed", c.Name, MaxName)
	}
	if (c.Instances.N == 0) != (c.PerSecond.N == 0) {
		return errors.New("instances and requests per second: one without the other")
	}
	for _, n := range []int{c.Instances.N, c.PerSecond.N} {
		if n < 0 || n > MaxLoad {
			return fmt.Errorf("load: %d is out of range: from 1 to %d", n, MaxLoad)
		}
	}
	names := map[string]bool{}
	for i, l := range c.Layers {
		if names[l.Name] {
			return fmt.Errorf("layer %d: the name %q is taken", i+1, l.Name)
		}
		names[l.Name] = true
		if err := l.Check(); err != nil {
			return fmt.Errorf("layer %d, %q: %w", i+1, l.Name, err)
		}
	}
	return nil
}

// Check says what of the layer is out of range, nil if nothing is.
func (l Layer) Check() error {
	switch {
	case l.Name == "" || len(l.Name) > MaxName || strings.ContainsFunc(l.Name, unprintable):
		return fmt.Errorf("name: %.20q: from 1 to %d bytes that can be printed", l.Name, MaxName)
	case l.Limit.D <= 0 || l.Limit.D > MaxLimit:
		return fmt.Errorf("limit: %v is out of range: above 0 and at most %v", l.Limit.D, MaxLimit)
	case l.Retries.N < 0 || l.Retries.N > MaxRetries:
		return fmt.Errorf("retries: %d is out of range: from 0 to %d", l.Retries.N, MaxRetries)
	case l.Waits.D < 0 || l.Waits.D > MaxLimit:
		return fmt.Errorf("waits: %v is out of range: from 0 to %v", l.Waits.D, MaxLimit)
	case l.Waits.D > 0 && l.Backoff != nil:
		return errors.New("waits with backoff: they follow from it; choose one")
	case l.Retries.N == 0 && (l.Waits.D > 0 || l.Backoff != nil):
		return errors.New("waits without retries: there is nothing to wait for")
	case l.Deadline > Adopted:
		return fmt.Errorf("deadline: %d is neither Afresh nor Adopted", l.Deadline)
	}
	if b := l.Backoff; b != nil {
		if _, err := backoff.New(backoff.Config{Base: b.Base, Cap: b.Cap}); err != nil {
			return err
		}
		if b.Base == 0 || b.Cap == 0 {
			return errors.New("backoff: base and cap must both be set")
		}
	}
	return nil
}

func unprintable(c rune) bool { return !unicode.IsPrint(c) }
