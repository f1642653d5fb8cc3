package deadlinechain

import "sort"

// outcome is how one call of a hop goes, in times since it was called.
type outcome struct {
	hop     int // index into plan.hops
	verdict verdict
	answer  amount // when who called has the answer, if it still waits
	end     amount // when the last work is over, the hop's own and below
	own     int64  // the hop's own work, from its start on
	tries   []tries

	asked     amount // the earliest deadline with which it may start all that it starts
	lastStart amount // when the last call below starts

	total     amount // all work, own and below
	leafCalls amount // how often the leaf begins to work
	completes bool   // a leaf call comes to its end: it could be a success
	overlap   bool   // a call below may go on after its caller did
	refused   bool   // it or a call below is turned away as it comes
}

// verdict is how a call is answered.
type verdict uint8

const (
	failed verdict = iota
	succeeded
	permanent
)

// tries are count tries in a row that go alike. Try i, from 0, starts at first,
// plus i times stride, plus the waits of a backoff after i tries.
type tries struct {
	child   *outcome
	count   int
	first   amount
	stride  amount // from the start of one try until its hop goes on
	backoff Backoff
}

func (t tries) start(i int) amount {
	at := plus(t.first, times(t.stride, int64(i)))
	return plus(at, t.backoff.waits(i))
}

func (t tries) last() amount { return t.start(t.count - 1) }

// startedBy returns how many of the first n tries start at limit or before.
func (t tries) startedBy(limit int64, n int) int {
	return sort.Search(n, func(i int) bool { return !within(t.start(i), limit) })
}

// sum fills in what follows from own and tries. Each try is made parallel times
// at once.
func (o *outcome) sum(parallel int) {
	o.end, o.total, o.leafCalls, o.lastStart = num(o.own), num(o.own), num(0), num(0)
	o.completes, o.overlap = false, parallel > 1
	for i, t := range o.tries {
		calls := int64(t.count) * int64(parallel)
		if t.child.total.Sign() > 0 {
			o.end = greater(o.end, plus(t.last(), t.child.end))
		}
		o.lastStart = greater(o.lastStart, plus(t.last(), t.child.lastStart))
		o.total = plus(o.total, times(t.child.total, calls))
		o.leafCalls = plus(o.leafCalls, times(t.child.leafCalls, calls))
		o.completes = o.completes || t.child.completes
		o.refused = o.refused || t.child.refused
		more := t.count > 1 || i+1 < len(o.tries)
		o.overlap = o.overlap || t.child.overlap ||
			more && greater(t.child.end, t.child.answer).Cmp(t.stride) > 0
	}
}

// deadline is the earliest deadline from above that changes nothing: all is over
// by then, and no hop that asked whether something can be done in time is told
// otherwise.
func (o *outcome) deadline() amount { return greater(o.asked, greater(o.end, o.answer)) }

// stopped is the earliest moment at which being told to stop changes nothing.
// What starts at that moment would not start.
func (o *outcome) stopped() amount {
	return greater(plus(o.lastStart, num(1)), greater(o.end, o.answer))
}
