package screen

import (
	"fmt"
	"time"

	"chaoslab/budgetcaller"
)

// Result is how a screen went.
type Result struct {
	Screen  string
	Budget  time.Duration // in force: the context's deadline may have been earlier
	Reserve time.Duration // of it, kept from the parts
	Began   time.Time
	Elapsed time.Duration // until the last part was over
	Left    time.Duration // of the budget then, the reserve included
	// Parts are in the order of Config.Groups.
	Parts []Outcome
	// Degraded names the optional parts that are missing, in order. It is empty,
	// not nil, if none is.
	Degraded []string
	// Err is why there is no answer, nil if there is one.
	Err *Error
}

// Error is the failure of a screen: the first required part that has no value,
// or a cancel.
type Error struct {
	Screen string
	Part   string // empty for a cancel
	Class  budgetcaller.Class
	Effect budgetcaller.Effect // the worst of all parts'
	Status int                 // of the part's last answer, 0 if there was none
	Err    error               // the part's own failure, the cause of the cancel
}

// Error returns one line: screen, part, and the part's own line.
func (e *Error) Error() string {
	if e.Part == "" {
		return fmt.Sprintf("%s: canceled: %v", e.Screen, e.Err)
	}
	return fmt.Sprintf("%s: required part failed: %v", e.Screen, e.Err)
}

// Unwrap returns the part's own failure.
func (e *Error) Unwrap() error { return e.Err }

// Part returns how the part of that name went, nil if there is none.
func (r *Result) Part(name string) *Outcome {
	for i := range r.Parts {
		if r.Parts[i].Name == name {
			return &r.Parts[i]
		}
	}
	return nil
}

// Lines returns the account of all parts, in their order.
func (r *Result) Lines() []Line {
	var lines []Line
	for i := range r.Parts {
		lines = append(lines, r.Parts[i].Lines...)
	}
	return lines
}

// Effect returns the worst effect of all parts.
func (r *Result) Effect() budgetcaller.Effect {
	worst := budgetcaller.EffectNone
	for i := range r.Parts {
		worst = max(worst, r.Parts[i].Effect)
	}
	return worst
}
