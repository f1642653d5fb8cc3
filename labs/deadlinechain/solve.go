package deadlinechain

import "errors"

// errPlay says that the course cannot be worked out and must be played: the
// order of calls that run at the same time matters, or too few calls are alike.
var errPlay = errors.New("must be played")

// maxSteps bounds the effort of working a chain out. Chains of 64 hops whose
// options fit together take some thousand.
const maxSteps = 20_000

// solver works out how calls go when every call of the leaf fails. What a call
// does depends on nothing but its hop, the deadline it was told and the moment
// at which it is told to stop, so equal calls are worked out once.
type solver struct {
	*plan
	calls map[question]*outcome
	steps int
}

type question struct {
	hop        int
	told, stop int64 // since the call's start
}

// solve returns the chain's Result without a trace.
func (p *plan) solve() (Result, error) {
	s := &solver{plan: p, calls: map[question]*outcome{}}
	// From the leaf up, so that no call below goes deep.
	for i := len(p.hops) - 1; i > 0; i-- {
		if _, err := s.usual(i); err != nil {
			return Result{}, err
		}
	}
	entry, err := s.call(question{0, p.told(0, forever), forever})
	if err != nil {
		return Result{}, err
	}
	leafOK := int64(0)
	if first, ok := p.turning(); ok && entry.leafCalls.Cmp(first) >= 0 {
		if entry.overlap {
			return Result{}, errPlay
		}
		turned, verdict := s.turn(entry, first, num(0))
		if verdict == succeeded {
			leafOK = 1
		}
		if turned != nil {
			entry = turned
		}
	}
	r, err := s.tally(entry)
	r.LeafOK = num(leafOK)
	return r, err
}

func (s *solver) step() error {
	if s.steps++; s.steps > maxSteps {
		return errPlay
	}
	return nil
}

// usual is how hop i goes when nothing from above cuts it short: the question
// that nearly all calls of the hop come down to.
func (s *solver) usual(i int) (*outcome, error) {
	q := question{i, s.told(i, s.perTry()), forever}
	if s.Stop {
		q.stop = s.perTry()
	}
	return s.call(q)
}

// below is how a call of hop i goes that is given so much time and told to stop
// after stop.
func (s *solver) below(i int, given, stop int64) (*outcome, error) {
	usual, err := s.usual(i)
	if err != nil {
		return nil, err
	}
	q := question{i, s.told(i, given), forever}
	if s.Stop {
		q.stop = min(given, stop)
	}
	if (q.told >= s.told(i, s.perTry()) || within(usual.deadline(), q.told)) && (q.stop >= s.perTry() || within(usual.stopped(), q.stop)) {
		return usual, nil
	}
	return s.call(q)
}

func (s *solver) call(q question) (*outcome, error) {
	if o := s.calls[q]; o != nil {
		return o, nil
	}
	if err := s.step(); err != nil {
		return nil, err
	}
	o := &outcome{hop: q.hop, answer: num(0), asked: num(0)}
	switch {
	case q.told < s.least(q.hop):
		o.sum(1)
		o.refused = true
	case q.hop == len(s.hops)-1:
		s.leaf(o, q)
	default:
		if err := s.hop(o, q); err != nil {
			return nil, err
		}
	}
	s.calls[q] = o
	return o, nil
}

func (s *solver) leaf(o *outcome, q question) {
	cost := s.leafCost()
	o.own = min(cost, q.told, q.stop)
	o.sum(1)
	o.answer, o.leafCalls, o.completes = o.end, num(1), o.own == cost
	o.asked = num(s.least(q.hop))
}

func (s *solver) hop(o *outcome, q question) error {
	h := s.hops[q.hop]
	o.own = min(h.work, q.told, q.stop)
	o.answer = num(o.own)
	if o.own < h.work {
		o.sum(1)
		o.asked = num(s.least(q.hop))
		return nil
	}
	if left(q.told, h.work) >= s.least(q.hop+1) && h.work < q.stop {
		usual, err := s.usual(q.hop + 1)
		if err != nil {
			return err
		}
		t := tries{child: usual, first: num(h.work), stride: usual.answer, backoff: h.backoff}
		if !within(t.stride, s.perTry()) {
			t.stride = num(s.perTry())
		}
		t.count = t.startedBy(s.latest(q, usual, t.stride), h.tries)
		if t.count > 0 {
			o.tries = append(o.tries, t)
			o.answer = plus(t.last(), t.stride)
		}
		if t.count < h.tries {
			if err := s.single(o, q, t.count); err != nil {
				return err
			}
		}
	}
	o.sum(h.parallel)
	if h.parallel > 1 && o.refused {
		// Calls at once that are turned away as they come end their hop one after
		// the other, and that order is for the play to tell.
		return errPlay
	}
	o.asked = num(s.least(q.hop))
	for _, t := range o.tries {
		o.asked = greater(o.asked, plus(t.last(), num(s.least(q.hop+1))))
		if s.Policy == Pass {
			o.asked = greater(o.asked, plus(t.last(), t.child.asked))
		}
	}
	return nil
}

// latest returns the last moment at which a try may start that goes the usual
// way: asked for, made, answered and over before a limit from above touches it.
func (s *solver) latest(q question, usual *outcome, stride amount) int64 {
	most := forever
	room := func(limit int64, needs amount) {
		if limit == forever {
			return
		}
		if !within(needs, limit) {
			most = -1
			return
		}
		most = min(most, limit-needs.Int64())
	}
	atMost := func(a amount, limit int64) amount { return pick(a, num(limit), within(a, limit)) }
	room(q.told, num(s.least(q.hop+1)))
	room(q.told, stride)
	room(q.stop, stride)
	room(q.stop, num(1)) // what would start when it is told to stop does not
	if s.Policy == Pass {
		room(q.told, atMost(usual.deadline(), s.told(q.hop+1, s.perTry())))
	}
	if s.Stop {
		room(q.told, atMost(usual.stopped(), s.perTry()))
		room(q.stop, atMost(usual.stopped(), s.perTry()))
	}
	return most
}

// single makes the tries from number done on one by one: those that a limit from
// above touches. All their times are below that limit.
func (s *solver) single(o *outcome, q question, done int) error {
	h := s.hops[q.hop]
	for ; done < h.tries; done++ {
		if err := s.step(); err != nil {
			return err
		}
		at := o.answer.Int64()
		if done > 0 {
			at += h.backoff.Window(done)
		}
		switch {
		case left(q.told, at) < s.least(q.hop+1):
			return nil // asked before the wait, so given up before it
		case at >= q.stop:
			o.answer = num(q.stop)
			return nil
		}
		given := min(left(q.told, at), s.perTry())
		child, err := s.below(q.hop+1, given, left(q.stop, at))
		if err != nil {
			return err
		}
		wait := pick(child.answer, num(given), within(child.answer, given))
		o.tries = append(o.tries, tries{child: child, count: 1, first: num(at), stride: wait})
		o.answer = plus(num(at), wait)
		if !within(child.answer, given) && given == left(q.told, at) {
			return nil // its own deadline passed while it waited
		}
	}
	return nil
}
