package deadlinechain

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

// agenda is a binary heap of what is due, the next first. container/heap would
// box each happening twice, which is half of the time that a play takes.
type agenda []happening

func (a *agenda) add(h happening) {
	heap := append(*a, h)
	*a = heap
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !heap[i].before(heap[parent]) {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

// next takes out what is due next; there must be something.
func (a *agenda) next() happening {
	heap := *a
	next, last := heap[0], len(heap)-1
	heap[0], heap[last] = heap[last], happening{}
	heap = heap[:last]
	*a = heap
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if heap[child].before(heap[least]) {
				least = child
			}
		}
		if least == i {
			return next
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
