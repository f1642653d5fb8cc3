package deadlinechain

import "fmt"

// naive is the plain chain as one would write it down: a function that calls
// itself. It shares nothing with the package but the input.
type naive struct {
	Chain
	now, leaf int64
	calls     []int64
	work      []span // of the leaf
	success   int64  // when the leaf succeeded, -1: never
}

type span struct{ start, end int64 }

const never = int64(1) << 62

func (n *naive) call(hop int, told int64) bool {
	n.calls[hop-1]++
	until := never
	switch {
	case n.Policy == Pass && hop > 1:
		until = told
	case n.Policy != None:
		until = n.now + n.Budget
	}
	if hop == n.Hops {
		if n.now+n.Cost > until {
			return false
		}
		n.leaf++
		n.work = append(n.work, span{n.now, n.now + n.Cost})
		n.now += n.Cost
		ok := n.Fails != Always && n.leaf > n.Fails
		if ok {
			n.success = n.now
		}
		return ok
	}
	tries := n.Tries
	if len(n.PerHop) >= hop && n.PerHop[hop-1].Tries > 0 {
		tries = n.PerHop[hop-1].Tries
	}
	for range tries {
		if n.now+n.Cost > until {
			return false
		}
		if n.call(hop+1, until) {
			return true
		}
	}
	return false
}

// plain is what both ways to the answer are compared by.
type plain struct {
	OK, LeafOK                                              bool
	Leaf, All, Elapsed, Entry, Work, Orphaned, OrphanedOver string
	Calls                                                   string
}

func (n *naive) run() plain {
	n.calls, n.success = make([]int64, n.Hops), -1
	n.call(1, never)
	entry := n.now
	if n.Policy != None {
		entry = min(entry, n.Budget)
	}
	var all, work, started, done int64
	for _, c := range n.calls[1:] {
		all += c
	}
	for _, w := range n.work {
		work += w.end - w.start
		done += max(0, w.end-max(w.start, entry))
		if w.start >= entry {
			started += w.end - w.start
		}
	}
	return plain{
		n.success >= 0 && n.success <= entry, n.success >= 0,
		str(n.leaf), str(all + n.leaf), str(n.now), str(entry), str(work), str(started), str(done), fmt.Sprint(n.calls),
	}
}

func str(n int64) string { return fmt.Sprint(n) }

func plainOf(r Result) plain {
	return plain{
		r.OK, r.LeafOK.Sign() > 0,
		r.LeafCalls.String(), r.AllCalls.String(), r.Elapsed.String(), r.Entry.String(),
		r.Work.String(), r.Orphaned.String(), r.OrphanedOverlap.String(), fmt.Sprint(r.Calls),
	}
}
