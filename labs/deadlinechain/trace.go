package deadlinechain

// Kind says what an Event is.
type Kind string

// The kinds of events.
const (
	Called    Kind = "called"    // a hop is called; the entry from outside
	Succeeded Kind = "ok"        // it answers with a success
	Failed    Kind = "failed"    // it answers with a failure
	Permanent Kind = "permanent" // it answers with a failure that none tries again
	NotTried  Kind = "not_tried" // it does not start what cannot be done in time; Failed follows
	GaveUp    Kind = "gave_up"   // its deadline passed while it was working or waiting; Failed follows
	Abandoned Kind = "abandoned" // the time of this try is over; who called waits no more
	Stopped   Kind = "stopped"   // it is told to stop, and does
)

// NotTold is Event.Told where there is no deadline.
const NotTold int64 = -1

// Event is one thing that happens to one call of a hop.
type Event struct {
	At   int64 `json:"at"`
	Kind Kind  `json:"kind"`
	Hop  int   `json:"hop"`  // from 1
	Call int   `json:"call"` // which call, numbered from 1 in the order of their starts
	From int   `json:"from"` // the call that made it; 0 for the entry's

	// Branch and Try say which call of From's it is: which of those that it makes
	// at once, and the how manyth try there, both from 1; 0 for the entry's.
	Branch int `json:"branch"`
	Try    int `json:"try"`

	// Told is, of Called, the time within which the hop must be done; of
	// NotTried, what is left of it. Else it is NotTold.
	Told int64 `json:"told"`
}

// Trace is the first events of a chain, in the order in which they happen.
type Trace struct {
	Events []Event
	Cut    bool // there were more

	// Ties counts the tries that were to start at the very moment at which their
	// hop was told to stop, or failed since another of its calls at once did. Here
	// they do not start; where time is no whole number either may come first.
	Ties int
}

// Told returns what each try that hop from made was told, in order: the entry is
// hop 1. NotTold stands for a try that was told nothing.
func (t Trace) Told(from int) []int64 {
	var told []int64
	for _, e := range t.Events {
		if e.Kind == Called && e.Hop == from+1 {
			told = append(told, e.Told)
		}
	}
	return told
}

// Span is one call of a hop, from its start until it was over.
type Span struct {
	Hop, Call, From int
	Start, End      int64 // End is below Start if the trace was cut before
	Told            int64
	How             Kind // Succeeded, Failed, Permanent or Stopped; Called if the trace was cut before
}

// Spans returns the calls of the trace, in the order of their starts.
func (t Trace) Spans() []Span {
	var spans []Span
	index := map[int]int{}
	for _, e := range t.Events {
		switch e.Kind {
		case Called:
			index[e.Call] = len(spans)
			spans = append(spans, Span{Hop: e.Hop, Call: e.Call, From: e.From, Start: e.At, End: e.At - 1, Told: e.Told, How: Called})
		case Succeeded, Failed, Permanent, Stopped:
			s := &spans[index[e.Call]]
			s.End, s.How = e.At, e.Kind
		}
	}
	return spans
}

func (p *play) note(k Kind, told int64, c *call) {
	e := Event{At: p.now, Kind: k, Hop: c.hop + 1, Call: c.id, Told: tell(told)}
	if c.from != nil {
		e.From, e.Branch, e.Try = c.from.of.id, c.from.number, c.try
	}
	p.trace.note(e)
}

// trace keeps the first events.
type trace struct {
	most   int
	events []Event
	cut    bool
	ids    int
	ties   int
}

func (t *trace) note(e Event) {
	if len(t.events) < t.most {
		t.events = append(t.events, e)
	} else {
		t.cut = true
	}
}

func (t *trace) done() Trace { return Trace{t.events, t.cut, t.ties} }

// tell turns a deadline's length into Event.Told.
func tell(told int64) int64 {
	if told == forever {
		return NotTold
	}
	return told
}

func answers(v verdict) Kind {
	switch v {
	case succeeded:
		return Succeeded
	case permanent:
		return Permanent
	}
	return Failed
}
