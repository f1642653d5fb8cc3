package screen

import (
	"fmt"
	"time"

	"chaoslab/budgetcaller"
)

// Source says where a part's value comes from. The zero value is SourceNone.
type Source uint8

// The sources.
const (
	SourceNone     Source = iota // there is no value
	SourceCall                   // the part's call
	SourceFallback               // Fallback.Func
	SourceOld                    // Fallback.Old
)

// String returns "none", "call", "fallback" or "old".
func (s Source) String() string {
	switch s {
	case SourceNone:
		return "none"
	case SourceCall:
		return "call"
	case SourceFallback:
		return "fallback"
	case SourceOld:
		return "old"
	}
	return fmt.Sprintf("source(%d)", uint8(s))
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (s *Source) UnmarshalText(text []byte) error {
	for k := SourceNone; k <= SourceOld; k++ {
		if k.String() == string(text) {
			*s = k
			return nil
		}
	}
	return fmt.Errorf("unknown source %q: one of none, call, fallback, old", text)
}

// Outcome is how one part went. What is left of the budget is always without
// the reserve.
type Outcome struct {
	Name     string
	Required bool
	Group    int // from 0

	// Value is the part's value, nil if Source is SourceNone, and Age how old it
	// is if Source is SourceOld.
	Value  any
	Source Source
	Age    time.Duration

	// How the call ended, whatever came of a fallback. Class is ClassNone where
	// the part's function failed by itself and not in a call: Err has its error.
	Class  budgetcaller.Class
	Phase  budgetcaller.Phase
	Limit  budgetcaller.Limit  // which limit ended it
	Effect budgetcaller.Effect // may the partner have carried it out?
	Status int                 // of the last answer, 0 if there was none
	Err    error               // why the call gave no value, nil if it did
	Why    string              // the same in a few words

	Called    bool
	At        time.Duration // from the start of the screen to that of the part
	Left      time.Duration // when the part's turn came
	Waited    time.Duration // between attempts, all together
	Used      time.Duration // by all attempts and the fallback together
	LeftAfter time.Duration // when the part was over
	Lines     []Line
}

// Missing reports whether the part has no value.
func (o *Outcome) Missing() bool { return o.Source == SourceNone }

// Line is one line of the account: an attempt, one that was not made, or a
// fallback.
type Line struct {
	Part     string
	Try      int  // number of the attempt, from 1
	Fallback bool // it is the fallback and no attempt; Try is then 0

	At        time.Duration // from the start of the screen to that of the line, its wait included
	Left      time.Duration // at that time
	Limit     time.Duration // the most it might take; 0 if it was not made
	Waited    time.Duration // before it was made
	Used      time.Duration
	LeftAfter time.Duration

	Called bool
	Class  budgetcaller.Class
	Phase  budgetcaller.Phase
	Fired  budgetcaller.Limit // which limit ended it
	Status int
	Why    string // why it was not made or failed, or nothing followed it; may be empty
}

// ending is how a function ended, in the words of calls.
type ending struct {
	called   bool
	class    budgetcaller.Class
	phase    budgetcaller.Phase
	limit    budgetcaller.Limit
	effect   budgetcaller.Effect
	status   int
	why      string
	err      error
	attempts []budgetcaller.Record
}

// set copies e into o, as what became of the call.
func (o *Outcome) set(e *ending) {
	o.Called = e.called
	o.Class, o.Phase, o.Limit, o.Effect = e.class, e.phase, e.limit, e.effect
	o.Status, o.Err, o.Why = e.status, e.err, e.why
}

// add appends lines and adds up what they took.
func (o *Outcome) add(lines ...Line) {
	o.Lines = append(o.Lines, lines...)
	for _, l := range lines {
		o.Waited += l.Waited
		o.Used += l.Used
	}
}
