package deadlinechain

import "math/big"

// turning returns the number of the first leaf call that, if it comes to its
// end, is no ordinary failure; false if there is none.
func (p *plan) turning() (amount, bool) {
	first, ok := int64(0), false
	if p.Fails != Always {
		first, ok = p.Fails, true // a number more, but that might not fit
	}
	if p.Permanent > 0 && (!ok || p.Permanent-1 < first) {
		first, ok = p.Permanent-1, true
	}
	return plus(num(first), num(1)), ok
}

// fate is how the leaf answers its call of that number.
func (p *plan) fate(number amount) verdict {
	switch {
	case p.Fails != Always && number.Cmp(num(p.Fails)) > 0:
		return succeeded
	case p.Permanent > 0 && number.Cmp(num(p.Permanent)) >= 0:
		return permanent
	}
	return failed
}

// turn returns how call o goes if the leaf calls from number first on, counted
// from 1 within o, do not just fail: the first of them to come to its end is the
// last of o. Before o there were so many. It returns nil if none comes to its
// end, and else the answer of that leaf call too. The calls must not overlap.
func (s *solver) turn(o *outcome, first, before amount) (*outcome, verdict) {
	if o.hop == len(s.hops)-1 {
		if !o.completes || first.Cmp(num(1)) > 0 {
			return nil, failed
		}
		turned := *o
		turned.verdict = s.fate(plus(before, num(1)))
		return &turned, turned.verdict
	}
	for i, t := range o.tries {
		if t.child.completes {
			if turned, at, v := s.turnTry(t, first, before); turned != nil {
				return s.cut(o, i, at, turned), v
			}
		}
		all := times(t.child.leafCalls, int64(t.count))
		first, before = minus(first, all), plus(before, all)
	}
	return nil, failed
}

// turnTry does what turn does for the tries t, and says which of them it is.
func (s *solver) turnTry(t tries, first, before amount) (*outcome, int, verdict) {
	each := t.child.leafCalls
	skip := num(0)
	if first.Sign() > 0 {
		skip = new(big.Int).Div(minus(first, num(1)), each)
	}
	if skip.Cmp(num(int64(t.count))) >= 0 {
		return nil, 0, failed
	}
	i := int(skip.Int64())
	skip = times(each, int64(i))
	turned, v := s.turn(t.child, minus(first, skip), plus(before, skip))
	if turned == nil && i+1 < t.count {
		i++
		turned, v = s.turn(t.child, num(1), plus(before, plus(skip, each)))
	}
	return turned, i, v
}

// cut returns o with turned as its last call: try at of its tries number i.
func (s *solver) cut(o *outcome, i, at int, turned *outcome) *outcome {
	c := *o
	t := o.tries[i]
	c.tries = append([]tries(nil), o.tries[:i]...)
	if at > 0 {
		before := t
		before.count = at
		c.tries = append(c.tries, before)
	}
	last := tries{child: turned, count: 1, first: t.start(at), stride: t.stride}
	c.tries = append(c.tries, last)
	// If its caller went on without it, that was its caller's end: nothing else
	// overlaps.
	if turned.verdict != failed && turned.answer.Cmp(t.stride) <= 0 {
		c.verdict, c.answer = turned.verdict, plus(last.first, turned.answer)
	}
	c.sum(1)
	return &c
}
