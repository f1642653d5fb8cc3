package layers

import (
	"fmt"
	"time"
)

// Verdict says whether a layer ends before the one outside gives up.
type Verdict uint8

// The verdicts, from good to bad.
const (
	Sound      Verdict = iota
	Tight              // it uses more than 80 % of what it has
	CannotHold         // it may still be at work when the one outside has gone
)

// String returns "sound", "tight" or "cannot hold".
func (v Verdict) String() string {
	switch v {
	case Sound:
		return "sound"
	case Tight:
		return "tight"
	}
	return "cannot hold"
}

// MarshalText implements encoding.TextMarshaler: String's words as one.
func (v Verdict) MarshalText() ([]byte, error) {
	if v == CannotHold {
		return []byte("cannot_hold"), nil
	}
	return []byte(v.String()), nil
}

// Audit is what was found about a chain.
type Audit struct {
	// Verdict is the worst of the findings'.
	Verdict Verdict
	// Findings has one for each layer, from the outside in.
	Findings []Finding
	// Warnings say what else should be mended, from the outside in.
	Warnings []Warning
}

// Finding is what was found about one layer.
type Finding struct {
	Layer Layer
	// Waits is the longest that the waits between its tries take together.
	Waits time.Duration
	// Worst is the longest that a call to it takes: all its tries and waits, or
	// what the layer outside has for it where it adopts that deadline.
	Worst time.Duration
	// Outside names the layer that calls it, and Allowed is the limit that one
	// has for it. Both are zero for the outermost layer, whose verdict is Sound.
	Outside string
	Allowed time.Duration
	Verdict Verdict
	// Over is how long it may go on for nobody after the layer outside gave up.
	// It is 0 where both end together, which cannot hold either.
	Over time.Duration
	// Cut says that the deadline it adopts may end it before its tries are over.
	Cut bool
	// Calls is how often it calls inward at most, for one request to the
	// outermost layer.
	Calls int64
	// PerSecond is how many calls a second that may be, 0 if the load of the
	// chain is not known.
	PerSecond int64
}

// Used returns which share of what it has the layer uses at worst, 0 for the
// outermost one.
func (f Finding) Used() float64 {
	if f.Allowed == 0 {
		return 0
	}
	return float64(f.Worst) / float64(f.Allowed)
}

// Why says in one line how the verdict comes about.
func (f Finding) Why() string {
	l := f.Layer
	sum := l.Limit.D.String()
	if n := l.tries(); n > 1 {
		sum = fmt.Sprintf("%v x %d tries", l.Limit.D, n)
		if f.Waits > 0 {
			sum += fmt.Sprintf(" + %v waits", f.Waits)
		}
		if !f.Cut {
			sum += fmt.Sprintf(" = %v", f.Worst)
		}
	}
	switch {
	case f.Outside == "":
		return sum + ", and nobody outside"
	case f.Cut:
		return fmt.Sprintf("%s, but it ends with the %v that %s has for it", sum, f.Allowed, f.Outside)
	case f.Verdict == CannotHold && f.Over == 0:
		return fmt.Sprintf("%s, and %s has no more than that for it: it must be less", sum, f.Outside)
	case f.Verdict == CannotHold:
		return fmt.Sprintf("%s, but %s has %v for it: %v too long", sum, f.Outside, f.Allowed, f.Over)
	}
	return fmt.Sprintf("%s of the %v that %s has for it", sum, f.Allowed, f.Outside)
}

// Warning is something to mend that is no verdict.
type Warning struct {
	Layer string // empty: the chain as a whole
	Key   string // the number it is about, as a file names it
	What  string
}

// String returns it in one line.
func (w Warning) String() string {
	if w.Layer == "" {
		return w.Key + ": " + w.What
	}
	return w.Layer + ": " + w.Key + ": " + w.What
}

// Audit checks the chain from the outside in. The error says what is out of
// range.
func (c Chain) Audit() (Audit, error) {
	if err := c.Check(); err != nil {
		return Audit{}, err
	}
	a := Audit{Warnings: c.loadWarnings()}
	var outside *Finding
	tries := make([]int, 0, len(c.Layers))
	for i, l := range c.Layers {
		tries = append(tries, l.tries())
		f, err := l.under(outside)
		if err != nil {
			return Audit{}, fmt.Errorf("layer %d, %q: %w", i+1, l.Name, err)
		}
		if f.Calls, err = Tries(tries...); err != nil {
			return Audit{}, fmt.Errorf("layer %d, %q: %w", i+1, l.Name, err)
		}
		if c.Instances.N > 0 {
			if f.PerSecond, err = multiply("load", append([]int{c.Instances.N, c.PerSecond.N}, tries...)...); err != nil {
				return Audit{}, fmt.Errorf("layer %d, %q: %w", i+1, l.Name, err)
			}
		}
		a.Verdict = max(a.Verdict, f.Verdict)
		a.Warnings = append(a.Warnings, l.warnings(outside)...)
		a.Findings = append(a.Findings, f)
		outside = &a.Findings[len(a.Findings)-1]
	}
	return a, nil
}

// under finds out how the layer stands under the one outside, nil for none.
func (l Layer) under(outside *Finding) (Finding, error) {
	f := Finding{Layer: l}
	var err error
	if f.Waits, err = l.waits(); err != nil {
		return f, err
	}
	f.Worst = l.Limit.D*time.Duration(l.tries()) + f.Waits
	if outside == nil {
		return f, nil
	}
	f.Outside, f.Allowed = outside.Layer.Name, outside.Layer.Limit.D
	switch {
	case l.Deadline == Adopted:
		f.Cut = f.Worst >= f.Allowed
		f.Worst = min(f.Worst, f.Allowed)
	case f.Worst >= f.Allowed:
		f.Verdict, f.Over = CannotHold, f.Worst-f.Allowed
	case f.Worst > f.Allowed-f.Allowed/5:
		f.Verdict = Tight
	}
	return f, nil
}

// warnings names the numbers that have no reason, and what else is amiss.
func (l Layer) warnings(outside *Finding) []Warning {
	var found []Warning
	add := func(key, what string) { found = append(found, Warning{l.Name, key, what}) }
	if l.Limit.Reason == "" {
		add("limit", noReason)
	}
	if l.Retries.N > 0 && l.Retries.Reason == "" {
		add("retries", noReason)
	}
	if l.Waits.D > 0 && l.Waits.Reason == "" {
		add("waits", noReason)
	}
	if l.Backoff != nil && l.Backoff.Reason == "" {
		add("backoff", noReason)
	}
	switch {
	case l.Deadline == Adopted && outside == nil:
		add("deadline", "adopted, but nobody outside passes one down")
	case l.Deadline == Afresh && outside != nil && outside.Cut:
		add("deadline", fmt.Sprintf("it starts afresh under %s, whose tries may be cut short: it then works on for nobody", outside.Layer.Name))
	}
	return found
}

func (c Chain) loadWarnings() []Warning {
	var found []Warning
	if c.Instances.N > 0 && c.Instances.Reason == "" {
		found = append(found, Warning{"", "instances", noReason})
	}
	if c.PerSecond.N > 0 && c.PerSecond.Reason == "" {
		found = append(found, Warning{"", "per_second", noReason})
	}
	return found
}

// noReason is the warning about a number without one.
const noReason = "no reason: where does it come from, and when was it measured?"
