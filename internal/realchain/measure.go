package realchain

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/faults"
	"chaoslab/labs/deadlinechain"
)

// callEntry calls the entry once and waits as long as it takes. What it answers
// is in the ledger.
func (r *Run) callEntry(ctx context.Context, url string) error {
	caller, err := budgetcaller.New(budgetcaller.Config{Default: budgetcaller.Dependency{KeepDeadline: true}})
	if err != nil {
		return err
	}
	defer caller.Close()
	budget, cancel, err := budgetcaller.Begin(ctx, r.Takes()*2+patience)
	if err != nil {
		return err
	}
	defer cancel()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	result, err := caller.Run(budget, req, io.Discard)
	if err != nil {
		return err
	}
	last := result.Last()
	if last.Class == budgetcaller.ClassOK || last.Class == budgetcaller.ClassStatus {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("the entry gave no answer: %w", last.Err)
}

// patience is what a run may take longer than twice what was simulated.
const patience = 30 * time.Second

// How a run is known to be over: nothing is under way at several looks in a row,
// between which what is on a socket arrives.
const (
	lookEvery = 5 * time.Millisecond
	quiet     = 4
)

// settle waits until no hop has anything to do.
func settle(ctx context.Context, p *faults.Partner) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for calm := 0; calm < quiet; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		calm++
		for _, s := range p.Stats() {
			ended := uint64(0)
			for _, o := range s.Outcomes {
				ended += o.Count
			}
			if ended < s.Received {
				calm = 0
			}
		}
	}
	return nil
}

// Measured is what the ledgers tell of a run. Times count from when the entry
// was called.
type Measured struct {
	OK        bool
	Status    int   // of the entry's answer
	Calls     []int // of each hop, the entry first
	LeafCalls int
	LeafOK    int
	AllCalls  int // every try that a hop sent, and the leaf's calls once more

	Entry   time.Duration // when the entry ended
	Elapsed time.Duration // when all was over: the entry had ended and the last work too
	Leaf    time.Duration // when the leaf's last work was over

	Work time.Duration // of all hops
	// Of Work, what was started after the entry had ended, and all that was done
	// after that. Where its deadline ended it, they count from that deadline as
	// it was simulated, without Run.Late.
	Orphaned, OrphanedOverlap time.Duration

	// Told is, for each hop that tries, what its tries were told: the
	// milliseconds of the header, -1 for none.
	Told [][]int

	// Spans is every call of every hop, in the order in which each hop got them,
	// the entry first.
	Spans []Span

	Agrees bool // success and the calls of every hop are as simulated
}

// Span is one call of a hop, from when it came until the hop was done with it,
// whether or not anybody waited for that.
type Span struct {
	Hop        int // from 1
	Start, End time.Duration
	// How it ended, as far as the ledger knows: Succeeded, Failed, Permanent or
	// Stopped. What it came to when its caller had left only the leaf's tells.
	How deadlinechain.Kind
}

// span reads a call of a hop. Its entry ends when its client leaves; what it
// worked on after that is in OrphanedOverlap, and the work of its own in Worked.
func (r *Run) span(entry faults.Entry, hop int, e faults.Entry, leaf bool) Span {
	return Span{
		Hop: hop, Start: since(entry.BegunAt, e.BegunAt),
		End: max(
			since(entry.BegunAt, e.EndedAt)+millis(e.OrphanedOverlap),
			since(entry.BegunAt, e.WholeAt+e.Waited)+millis(e.Worked),
		),
		How: r.how(e, leaf),
	}
}

func (r *Run) how(e faults.Entry, leaf bool) deadlinechain.Kind {
	answered := e.EndedBy == "partner"
	switch {
	case leaf && e.Effect, answered && e.Status == http.StatusOK:
		return deadlinechain.Succeeded
	case answered && e.Status == http.StatusInternalServerError:
		return deadlinechain.Permanent
	case !answered && r.Chain.Stop:
		return deadlinechain.Stopped
	}
	return deadlinechain.Failed
}

// read makes a Measured of the ledger.
func (r *Run) read(ledger *faults.Ledger) (Measured, error) {
	m := Measured{Calls: make([]int, r.Chain.Hops), Told: make([][]int, r.Chain.Hops-1)}
	if n := ledger.Dropped(); n > 0 {
		return m, fmt.Errorf("the ledger has lost %d entries", n)
	}
	hops := make([][]faults.Entry, r.Chain.Hops)
	for i := range hops {
		for _, e := range ledger.Entries(faults.Query{Listener: name(i + 1)}) {
			if e.Kind == "request" {
				hops[i] = append(hops[i], e)
			}
		}
		m.Calls[i] = len(hops[i])
		if i > 0 {
			m.AllCalls += len(hops[i])
		}
	}
	if m.Calls[0] != 1 {
		return m, fmt.Errorf("the entry was called %d times, want once", m.Calls[0])
	}
	entry := hops[0][0]
	m.Status, m.OK = entry.Status, entry.Status == http.StatusOK
	m.LeafCalls = m.Calls[len(hops)-1]
	m.AllCalls += m.LeafCalls
	m.Entry = since(entry.BegunAt, entry.EndedAt)
	m.Elapsed = m.Entry
	for i, entries := range hops {
		leaf := i == len(hops)-1
		for _, e := range entries {
			r.add(&m, entry, e, leaf)
			m.Spans = append(m.Spans, r.span(entry, i+1, e, leaf))
			if i > 0 {
				m.Told[i-1] = append(m.Told[i-1], told(e))
			}
		}
	}
	m.Agrees = r.agrees(m)
	return m, nil
}

// add adds the work of one request.
func (r *Run) add(m *Measured, entry, e faults.Entry, leaf bool) {
	if leaf && e.Effect {
		m.LeafOK++
	}
	if e.Asked == 0 {
		return
	}
	start := e.WholeAt + e.Waited
	worked := millis(e.Worked)
	end := since(entry.BegunAt, start) + worked
	m.Elapsed = max(m.Elapsed, end)
	if leaf {
		m.Leaf = max(m.Leaf, end)
	}
	m.Work += worked
	gone := r.gone(m.Entry)
	m.OrphanedOverlap += max(0, min(worked, end-gone))
	if since(entry.BegunAt, start) >= gone {
		m.Orphaned += worked
	}
}

// gone is from when on work is for nobody: when the entry ended or, if that was
// at its deadline and those below have others, when that would have come were it
// not late. Else what starts with the deadline would start before it.
func (r *Run) gone(entry time.Duration) time.Duration {
	deadline := r.units(r.settings(1).Budget)
	if r.Chain.Policy == deadlinechain.Each && !r.Chain.Stop && entry >= deadline+r.Late() {
		return deadline
	}
	return entry
}

func told(e faults.Entry) int {
	if e.TimeoutMS == 0 {
		return -1
	}
	return int(e.TimeoutMS)
}

func (r *Run) agrees(m Measured) bool {
	if m.OK != r.Simulated.OK {
		return false
	}
	for i, n := range r.Simulated.Calls {
		if !n.IsInt64() || n.Int64() != int64(m.Calls[i]) {
			return false
		}
	}
	return true
}

// since is the time from one Unix time in milliseconds to another.
func since(from, to float64) time.Duration { return millis(to - from) }

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
