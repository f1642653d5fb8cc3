package retryqueue

import (
	"fmt"
	"slices"
	"strings"
)

// State is where a job stands. The zero value is Pending.
type State uint8

// The states. Their numbers are what the stores keep: never change them.
const (
	Pending State = iota // waits to be taken, perhaps not before a time
	Leased               // a worker has it, until its lease ends
	Done                 // final: the receiver accepted it
	Dead                 // final: given up, with a reason
)

// Reason is why a job is dead. The zero value is ReasonNone: it is not.
type Reason uint8

// The reasons. Their numbers are what the stores keep: never change them.
const (
	ReasonNone      Reason = iota
	ReasonDeadline         // no attempt could have ended before the deadline
	ReasonExhausted        // all attempts were spent
	ReasonPermanent        // the receiver said no for good
)

func stateNames() []string  { return []string{"pending", "leased", "done", "dead"} }
func reasonNames() []string { return []string{"none", "deadline", "exhausted", "permanent"} }

// Final says whether s is left only by Redrive.
func (s State) Final() bool { return s >= Done }

// String returns the word used in tables, JSON and metrics.
func (s State) String() string { return nameOf(stateNames(), uint8(s), "state") }

// MarshalText implements encoding.TextMarshaler with String's word.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (s *State) UnmarshalText(text []byte) error {
	n, err := numberOf(stateNames(), string(text), "state")
	*s = State(n)
	return err
}

// String returns the word used in tables, JSON and metrics.
func (r Reason) String() string { return nameOf(reasonNames(), uint8(r), "reason") }

// MarshalText implements encoding.TextMarshaler with String's word.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (r *Reason) UnmarshalText(text []byte) error {
	n, err := numberOf(reasonNames(), string(text), "reason")
	*r = Reason(n)
	return err
}

func nameOf(names []string, n uint8, kind string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("%s(%d)", kind, n)
}

func numberOf(names []string, word, kind string) (uint8, error) {
	if i := slices.Index(names, word); i >= 0 {
		return uint8(i), nil
	}
	return 0, fmt.Errorf("unknown %s %q: one of %s", kind, word, strings.Join(names, ", "))
}
