package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"chaoslab/labs/retryqueue"
)

// addSchema names the form of the JSON line of a job handed in.
const addSchema = "caller.queue.add/1"

type addLine struct {
	Schema  string           `json:"schema"`
	ID      string           `json:"id"`
	New     bool             `json:"new"`
	State   retryqueue.State `json:"state"`
	Differs bool             `json:"differs"` // known with another payload
	// DiffersIn is what was handed in and is not in the store: payload, deadline,
	// max_attempts.
	DiffersIn []string `json:"differs_in,omitempty"`
}

func (a *adder) tell(from []readJob, added []retryqueue.Added) error {
	enc := lineEncoder(a.s.Out)
	var failed error
	for i, x := range added {
		if x.New {
			a.fresh++
		} else {
			a.known++
		}
		differs := a.differs(from[i], x)
		if a.json && failed == nil {
			failed = enc.Encode(addLine{addSchema, x.ID, x.New, x.State, x.Differs, differs})
		}
	}
	return failed
}

// differs returns in what a job differs from the known one, which stays, and warns
// of it; but not of a deadline from now, which is another one each time.
func (a *adder) differs(from readJob, x retryqueue.Added) []string {
	if x.DiffersIn == "" {
		return nil
	}
	all := strings.Split(x.DiffersIn, ", ")
	warn := all
	if i := slices.Index(all, "deadline"); i >= 0 && from.deadline != absolute {
		warn = slices.Delete(slices.Clone(all), i, i+1)
		if from.deadline == fromNow {
			a.kept++
		}
	}
	if len(warn) > 0 {
		a.warnings.add("%swarning: %s is known with another %s, which stays (it is %v)", from.place(), x.ID, strings.Join(warn, ", "), x.State)
	}
	return all
}

// end tells how many jobs are in, and returns err or that this could not be told.
func (a *adder) end(err error) error {
	a.bar.Close()
	a.refusals.end()
	a.warnings.end()
	if a.kept > 0 {
		fmt.Fprintf(a.s.Err, "known jobs that keep the deadline they have: %d\n", a.kept)
	}
	if a.json {
		return err
	}
	text := fmt.Sprintf("added %d, known %d", a.fresh, a.known)
	if a.refused > 0 {
		text += fmt.Sprintf(", refused %d", a.refused)
	}
	if _, werr := fmt.Fprintln(a.s.Out, text); err == nil {
		err = werr
	}
	return err
}

// notes writes lines to w, but for the many of a file that is wrong throughout:
// those it counts.
type notes struct {
	w io.Writer
	n int
}

const maxNotes = 20

func (n *notes) add(format string, args ...any) {
	if n.n++; n.n <= maxNotes {
		fmt.Fprintf(n.w, format+"\n", args...)
	}
}

func (n *notes) end() {
	if n.n > maxNotes {
		fmt.Fprintf(n.w, "and %d more lines like these\n", n.n-maxNotes)
	}
}
