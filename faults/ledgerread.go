package faults

import (
	"context"
	"slices"
)

// piece is how many entries are looked at in one go: whoever reads a full ledger
// must not hold up those who write to it.
const piece = 512

// Entries returns the entries asked for, oldest first.
func (l *Ledger) Entries(q Query) []Entry {
	r := reading{ledger: l, q: q}
	for more := true; more; {
		more = r.next()
	}
	slices.Reverse(r.found)
	return r.found
}

// Wait returns the entries asked for once there is at least one and all of them
// have ended, or as they stand when ctx is done.
func (l *Ledger) Wait(ctx context.Context, q Query) []Entry {
	for {
		l.mu.Lock()
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed // from before the look, so that nothing is missed
		l.mu.Unlock()
		found := l.Entries(q)
		whole := len(found) > 0
		for _, e := range found {
			whole = whole && e.Ended()
		}
		if whole || ctx.Err() != nil {
			return found
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// reading goes through a ledger from the newest entry backwards: most questions
// are about the last few, and the ring may be long. What begins meanwhile is not
// told, and what falls out is not either.
type reading struct {
	ledger *Ledger
	q      Query
	begun  bool
	at     uint64  // the number of the next entry to look at
	copies []entry // of this piece
	found  []Entry // the newest first
}

// next looks at one piece. It returns false when there is nothing more to find.
func (r *reading) next() bool {
	more := r.copyPiece()
	for i := range r.copies {
		r.found = append(r.found, r.copies[i].export(r.ledger.base))
	}
	return more
}

// copyPiece copies what is asked for and stands in the next piece.
func (r *reading) copyPiece() bool {
	l, q := r.ledger, r.q
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.begun {
		r.begun, r.at = true, l.seq
	}
	r.copies = r.copies[:0]
	for range piece {
		back := l.seq - r.at // the numbers in the ring have no gaps
		if back >= uint64(len(l.ring)) {
			return false
		}
		e := l.ring[(l.next-1-int(back)+2*len(l.ring))%len(l.ring)]
		if e.seq <= q.After || (q.Limit > 0 && len(r.found)+len(r.copies) == q.Limit) {
			return false
		}
		r.at--
		if (q.Listener != "" && e.listener.name != q.Listener) || (q.Remote.IsValid() && e.remote != q.Remote) {
			continue
		}
		last := q.Remote.IsValid() && !e.isRequest
		if q.Nth == 0 || e.isRequest && int(e.nth) == q.Nth || last && len(r.found)+len(r.copies) == 0 {
			r.copies = append(r.copies, *e)
		}
		if last {
			return false
		}
	}
	return true
}
