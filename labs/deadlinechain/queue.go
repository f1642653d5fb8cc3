package deadlinechain

import "container/heap"

// rank orders what happens at one moment. See the package's rule on ties.
type rank uint8

const (
	ends   rank = iota // work ends, answers travel up
	limits             // a deadline or the limit of a try passes
	starts             // a try is made
)

// happening is something that is due at a moment.
type happening struct {
	at   int64
	rank rank
	seq  int // the order in which it was planned: the last word on ties
	call *call
	try  *branch // limits: of this try and not of the call; starts: of this branch
	n    int     // limits of a try: its number
}

func (a happening) before(b happening) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.rank != b.rank:
		return a.rank < b.rank
	case a.rank == limits && a.call.hop != b.call.hop:
		return a.call.hop < b.call.hop
	}
	return a.seq < b.seq
}

// agenda is a heap of what is due, the next first.
type agenda []happening

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].before(a[j]) }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(happening)) }

func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	old[len(old)-1] = happening{}
	*a = old[:len(old)-1]
	return last
}

func (a *agenda) add(h happening) { heap.Push(a, h) }
func (a *agenda) next() happening { return heap.Pop(a).(happening) }
