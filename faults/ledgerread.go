package faults

import "context"

// piece is how many entries are looked at in one go: whoever reads a full ledger
// must not hold up those who write to it.
const piece = 512

// Entries returns the entries asked for, oldest first.
func (l *Ledger) Entries(q Query) []Entry { return collect(l.survey(q)) }

// Each calls f with the entries that Entries returns, until it returns an error,
// which Each then returns. It holds a few hundred of them at a time, however many
// there are and however long f takes; what falls out of the ledger meanwhile is
// left out.
func (l *Ledger) Each(q Query, f func(Entry) error) error { return l.survey(q).each(f) }

// Wait returns the entries asked for once there is at least one and all of them
// have ended, or as they stand when ctx is done.
func (l *Ledger) Wait(ctx context.Context, q Query) []Entry { return collect(l.settled(ctx, q)) }

// WaitEach is to Wait as Each is to Entries.
func (l *Ledger) WaitEach(ctx context.Context, q Query, f func(Entry) error) error {
	return l.settled(ctx, q).each(f)
}

// collect returns all entries of s.
func collect(s survey) []Entry {
	var found []Entry
	_ = s.each(func(e Entry) error { found = append(found, e); return nil })
	return found
}

// settled surveys the entries asked for once there is one and all have ended.
func (l *Ledger) settled(ctx context.Context, q Query) survey {
	for {
		l.mu.Lock()
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed // from before the look, so that nothing is missed
		l.mu.Unlock()
		s := l.survey(q)
		if s.found > 0 && !s.underWay || ctx.Err() != nil {
			return s
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// survey says where the entries asked for stand: those that match, from number
// from up to number to. What begins later is not among them.
type survey struct {
	ledger   *Ledger
	q        Query
	from, to uint64
	found    int
	underWay bool // one of them has not ended
}

// survey goes through the ledger from the newest entry backwards: most questions
// are about the last few, and the ring may be long.
func (l *Ledger) survey(q Query) survey {
	s := survey{ledger: l, q: q}
	l.mu.Lock()
	at := l.seq
	l.mu.Unlock()
	s.from, s.to = at+1, at
	for more := true; more; {
		more = s.look(&at)
	}
	return s
}

// look looks at one piece, whose newest entry has number at. It returns false when
// there is nothing more to find.
func (s *survey) look(at *uint64) bool {
	l, q := s.ledger, s.q
	l.mu.Lock()
	defer l.mu.Unlock()
	for range piece {
		e := l.at(*at)
		if e == nil || e.seq <= q.After || q.Limit > 0 && s.found == q.Limit {
			return false
		}
		*at--
		if !q.matches(e) {
			continue
		}
		last := q.Remote.IsValid() && !e.isRequest
		if q.Nth == 0 || e.isRequest && int(e.nth) == q.Nth || last && s.found == 0 {
			s.add(e)
		}
		if last {
			return false
		}
	}
	return true
}

func (s *survey) add(e *entry) {
	s.from = e.seq
	if s.q.Nth > 0 { // it is the only one
		s.to = e.seq
	}
	s.found++
	s.underWay = s.underWay || e.ended == 0
}

// at returns the entry of that number, or nil if it is not there. It is called
// with the lock held.
func (l *Ledger) at(seq uint64) *entry {
	back := l.seq - seq // the numbers in the ring have no gaps
	if back >= uint64(len(l.ring)) {
		return nil
	}
	return l.ring[(l.next-1-int(back)+2*len(l.ring))%len(l.ring)]
}

// matches says whether e is on the listener and from the client asked for.
func (q Query) matches(e *entry) bool {
	return (q.Listener == "" || e.listener.name == q.Listener) && (!q.Remote.IsValid() || e.remote == q.Remote)
}

// each calls f with the entries, oldest first.
func (s survey) each(f func(Entry) error) error {
	var copies []entry
	for s.found > 0 && s.from <= s.to {
		copies = s.copyPiece(copies[:0])
		for i := range copies {
			if err := f(copies[i].export(s.ledger.base)); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyPiece appends what stands in the next piece to buf.
func (s *survey) copyPiece(buf []entry) []entry {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	s.from = max(s.from, l.seq-uint64(len(l.ring))+1) // what has fallen out is not there
	for range piece {
		if s.from > s.to {
			break
		}
		if e := l.at(s.from); s.q.matches(e) {
			buf = append(buf, *e)
		}
		s.from++
	}
	return buf
}
