package referee

import (
	"net/netip"
	"slices"
	"time"

	"chaoslab/faults"
)

// Attempt is one try on the wire, as the partner or the kernel saw it. Times are
// milliseconds from the start of the program.
type Attempt struct {
	Listener string  `json:"listener"`
	Kind     string  `json:"kind"` // connect (a SYN that nobody answered), connection (no request came whole) or request
	Start    float64 `json:"start_ms"`
	End      float64 `json:"end_ms"`
	By       string  `json:"ended_by,omitempty"` // client or partner
	How      string  `json:"how,omitempty"`
	// Unsure is how much longer a connect may have lasted than was seen: the
	// kernel's table is only looked at from time to time.
	Unsure float64 `json:"unsure_ms,omitempty"`
	// Entry is the ledger's own; empty for a connect.
	Entry faults.Entry `json:"entry"`
}

// Took returns how long the attempt lasted, in milliseconds.
func (a Attempt) Took() float64 { return a.End - a.Start }

// Reply is what the program, as a server, answered to a call of the referee.
type Reply struct {
	Start  float64 `json:"start_ms"`
	End    float64 `json:"end_ms"`
	Status int     `json:"status"` // 0: no whole answer came
	Body   string  `json:"body"`   // the beginning of it
	Error  string  `json:"error,omitempty"`
}

// Line is one line that a program wrote.
type Line struct {
	At   float64 `json:"at_ms"`
	Text string  `json:"text"`
	Err  bool    `json:"stderr,omitempty"`
}

// Life is one run of a program in a scenario.
type Life struct {
	Start  float64 `json:"start_ms"`
	End    float64 `json:"end_ms"`
	Exit   int     `json:"exit"` // -1: ended by a signal
	Killed bool    `json:"killed,omitempty"`
}

// Seen is all that is known of one run of a scenario.
type Seen struct {
	Attempts []Attempt                 `json:"attempts"` // in the order of beginning
	Effects  map[string]faults.Effects `json:"effects"`  // by listener
	Lines    []Line                    `json:"lines"`
	Lives    []Life                    `json:"lives"`
	Replies  []Reply                   `json:"replies,omitempty"`
	Said     Said                      `json:"said"`
	// Refused is what a confined program said when it was refused a write, as far as
	// that can be told.
	Refused string `json:"refused,omitempty"`
	// Kernel says that connects without an answer could be seen.
	Kernel bool  `json:"kernel"`
	Noise  Noise `json:"noise"`

	noiseIn func(from, to float64) Noise // about two points in time; nil: Noise
}

// At returns the attempts at one listener, or all if the name is empty.
func (s *Seen) At(listener string) []Attempt {
	if listener == "" {
		return s.Attempts
	}
	var at []Attempt
	for _, a := range s.Attempts {
		if a.Listener == listener {
			at = append(at, a)
		}
	}
	return at
}

// First returns when the program first got in touch with a partner, or when it
// was started if it never did.
func (s *Seen) First() float64 {
	if len(s.Attempts) == 0 {
		return 0
	}
	return s.Attempts[0].Start
}

// attemptsOf makes attempts of a ledger's entries.
func attemptsOf(entries []faults.Entry, start time.Time, end float64) []Attempt {
	ms := func(unix float64) float64 { return unix - float64(start.UnixMicro())/1000 }
	var all []Attempt
	asked := map[uint64]bool{} // connections on which a request came
	for _, e := range entries {
		if e.Kind == "request" {
			asked[e.Conn] = true
		}
	}
	for _, e := range entries {
		// Its requests stand for it, also where the connection does not count them yet.
		if e.Kind == "connection" && (e.Nth > 0 || asked[e.Conn]) {
			continue
		}
		a := Attempt{Listener: e.Listener, Kind: e.Kind, Start: ms(e.AcceptedAt), End: end, By: e.EndedBy, How: e.How, Entry: e}
		if e.Kind == "request" && e.Nth > 1 {
			a.Start = ms(e.BegunAt)
		}
		if e.Ended() {
			a.End = ms(e.EndedAt)
		}
		all = append(all, a)
	}
	return all
}

// syn is a connect that was seen under way: the last look before it, the first
// and last with it, and the first after it.
type syn struct{ before, first, last, after time.Time }

func synAttempts(syns map[netip.AddrPort]*syn, names map[netip.AddrPort]string, start time.Time) []Attempt {
	var all []Attempt
	for local, s := range syns {
		all = append(all, Attempt{
			Listener: names[local], Kind: "connect", By: "client",
			Start: millis(s.first.Sub(start)), End: millis(s.last.Sub(start)),
			Unsure: millis(s.first.Sub(s.before) + s.after.Sub(s.last)),
		})
	}
	return all
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func sortAttempts(all []Attempt) {
	slices.SortStableFunc(all, func(a, b Attempt) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
}
