package deadlinechain

import "sort"

// tally adds up the entry's call into a Result, but for LeafOK.
func (s *solver) tally(entry *outcome) (Result, error) {
	r := Result{
		OK:        entry.verdict == succeeded,
		LeafCalls: entry.leafCalls,
		Calls:     s.count(entry),
		AllCalls:  entry.leafCalls,
		Elapsed:   greater(entry.end, entry.answer),
		Entry:     entry.answer,
		Work:      entry.total,
	}
	for _, n := range r.Calls[1:] {
		r.AllCalls = plus(r.AllCalls, n)
	}
	o := orphans{solver: s, seen: map[moment]orphaned{}}
	lost, err := o.after(entry, entry.answer)
	if err != nil {
		return Result{}, err
	}
	r.Orphaned, r.OrphanedOverlap = lost.started, lost.done
	return r.own(), nil
}

// own returns r with numbers that share no memory with one another.
func (r Result) own() Result {
	for _, n := range []*amount{
		&r.LeafCalls, &r.LeafOK, &r.AllCalls, &r.Elapsed, &r.Entry, &r.Work, &r.Orphaned, &r.OrphanedOverlap,
	} {
		if *n != nil {
			*n = plus(*n, num(0))
		}
	}
	return r
}

// count returns how often each hop is called. A call is made by the hop above
// it only, so one pass from the entry down sees every caller before the called.
func (s *solver) count(entry *outcome) []amount {
	calls := make([]amount, len(s.hops))
	level := map[*outcome]amount{entry: num(1)}
	for i, h := range s.hops {
		calls[i] = num(0)
		below := map[*outcome]amount{}
		for o, n := range level {
			calls[i] = plus(calls[i], n)
			for _, t := range o.tries {
				sent := times(times(n, int64(t.count)), int64(h.parallel))
				if seen := below[t.child]; seen != nil {
					sent = plus(sent, seen)
				}
				below[t.child] = sent
			}
		}
		level = below
	}
	return calls
}

// orphaned is work for nobody: all of it, and what was also started for nobody.
type orphaned struct{ done, started amount }

type moment struct {
	call *outcome
	at   int64
}

type orphans struct {
	*solver
	seen map[moment]orphaned
}

// after returns the work in call o that falls behind the moment at, since the
// start of o.
func (s *orphans) after(o *outcome, at amount) (orphaned, error) {
	switch {
	case o.end.Cmp(at) <= 0:
		return orphaned{num(0), num(0)}, nil
	case at.Sign() <= 0:
		return orphaned{o.total, o.total}, nil
	}
	// Something is cut in two at that moment, so a deadline has set it, and it
	// fits.
	key := moment{o, at.Int64()}
	if known, ok := s.seen[key]; ok {
		return known, nil
	}
	if err := s.step(); err != nil {
		return orphaned{}, err
	}
	parallel := int64(s.hops[o.hop].parallel)
	sum := orphaned{greater(num(0), minus(num(o.own), at)), num(0)}
	for _, t := range o.tries {
		past := sort.Search(t.count, func(i int) bool { return plus(t.start(i), t.child.end).Cmp(at) > 0 })
		behind := sort.Search(t.count, func(i int) bool { return t.start(i).Cmp(at) >= 0 })
		whole := times(t.child.total, parallel*int64(t.count-max(past, behind)))
		sum = orphaned{plus(sum.done, whole), plus(sum.started, whole)}
		for i := past; i < behind; i++ {
			part, err := s.after(t.child, minus(at, t.start(i)))
			if err != nil {
				return orphaned{}, err
			}
			sum = orphaned{plus(sum.done, times(part.done, parallel)), plus(sum.started, times(part.started, parallel))}
		}
	}
	s.seen[key] = sum
	return sum, nil
}
