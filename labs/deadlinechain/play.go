package deadlinechain

import (
	"fmt"
	"math/rand/v2"
)

// maxEvents bounds the effort of playing a chain. It also keeps the clock within
// its type: no event is more than MaxTime behind the one that plans it.
const maxEvents = 500_000

// play plays a chain event by event on a virtual clock.
type play struct {
	*plan
	seed uint64
	rng  *rand.Rand // for jitter
	now  int64
	due  agenda
	seq  int
	trace
	room int // how many events may still be planned

	calls   []int64 // by hop-1
	leaf    int64   // calls of the leaf that began to work
	leafOK  int64
	work    int64
	lost    struct{ done, started int64 }
	entry   *call
	ended   int64 // when the entry ended
	lastEnd int64 // when the last work ended
}

// call is one call of a hop that is going on.
type call struct {
	id, hop  int     // hop is an index into plan.hops
	from     *branch // who called; nil: the entry
	try      int     // the how manyth try of from
	until    int64   // its deadline
	start    int64
	end      int64 // once it is over
	working  bool  // at its own work, since start
	over     bool  // it has answered, given up or was stopped
	verdict  verdict
	fate     verdict // the leaf's: how it answers
	branches []*branch
	open     int // branches that have no success yet
}

// branch is one of the calls that a hop makes at once, with its tries.
type branch struct {
	of     *call
	number int // of the calls at once, from 1
	tries  int
	child  *call // what it waits for; nil: nothing
}

func newPlay(p *plan, seed uint64) *play {
	return &play{
		plan: p, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), room: maxEvents,
		trace: trace{most: p.Trace}, calls: make([]int64, len(p.hops)),
	}
}

// whole plays to the end.
func (p *play) whole() (Result, error) {
	p.begin()
	for len(p.due) > 0 {
		if p.room < 0 {
			return Result{}, fmt.Errorf("%w: with %s every call is played, and this takes more than %d steps: %s", ErrTooLarge, p.whyPlayed(), maxEvents, p.fewer())
		}
		p.happen(p.due.next())
	}
	r := Result{
		OK: p.entry.verdict == succeeded, LeafCalls: num(p.leaf), LeafOK: num(p.leafOK), AllCalls: num(p.leaf),
		Elapsed: num(max(p.lastEnd, p.ended)), Entry: num(p.ended),
		Work: num(p.work), Orphaned: num(p.lost.started), OrphanedOverlap: num(p.lost.done), Trace: p.done(),
	}
	for i, n := range p.calls {
		r.Calls = append(r.Calls, num(n))
		if i > 0 {
			r.AllCalls = plus(r.AllCalls, num(n))
		}
	}
	return r, nil
}

// prefix plays until the trace is full.
func (p *play) prefix() Trace {
	p.begin()
	for len(p.due) > 0 && !p.cut && p.room >= 0 {
		p.happen(p.due.next())
	}
	return p.done()
}

func (p *play) begin() {
	p.ids = 1
	p.entry = &call{id: 1, until: forever}
	p.receive(p.entry, p.told(0, forever))
}

func (p *play) happen(h happening) {
	p.now = h.at
	c := h.call
	switch {
	case h.rank == ends:
		if c.working {
			p.worked(c)
		}
	case h.rank == starts:
		switch {
		case !c.over:
			p.try(h.try)
		case c.end == p.now:
			p.ties++
		}
	case h.try != nil: // the limit of a try
		if !c.over && h.try.child != nil && h.try.tries == h.n {
			p.abandon(h.try)
		}
	case !c.over:
		p.note(GaveUp, forever, c)
		p.leave(c)
		p.answer(c, failed)
	}
}

func (p *play) schedule(at int64, r rank, c *call, b *branch) {
	p.seq++
	p.room--
	h := happening{at: at, rank: r, seq: p.seq, call: c, try: b}
	if b != nil {
		h.n = b.tries
	}
	p.due.add(h)
}

// receive has hop c.hop called now, told to be done within told.
func (p *play) receive(c *call, told int64) {
	p.calls[c.hop]++
	c.start = p.now
	if told != forever {
		c.until = p.now + told
	}
	p.note(Called, told, c)
	if told < p.least(c.hop) {
		p.note(NotTried, told, c)
		p.answer(c, failed)
		return
	}
	c.working = true
	own := p.hops[c.hop].work
	if c.hop == len(p.hops)-1 {
		p.leaf++
		own = p.cost(p.seed, p.leaf)
		c.fate = p.fate(num(p.leaf))
	}
	if own != forever {
		p.schedule(p.now+own, ends, c, nil)
	}
	if c.until != forever {
		p.schedule(c.until, limits, c, nil)
	}
}

// worked is the end of a hop's own work: the leaf answers, another hop tries.
func (p *play) worked(c *call) {
	p.leave(c)
	if c.hop == len(p.hops)-1 {
		if c.fate == succeeded {
			p.leafOK++
		}
		p.answer(c, c.fate)
		return
	}
	c.open = p.hops[c.hop].parallel
	for i := range c.open {
		b := &branch{of: c, number: i + 1}
		c.branches = append(c.branches, b)
		p.again(b, 0)
		if c.over {
			return
		}
	}
}

// again plans the next try of b after a wait, or gives up if it would not be
// done in time.
func (p *play) again(b *branch, wait int64) {
	c := b.of
	if rest := left(c.until, p.now+wait); rest < p.least(c.hop+1) {
		p.note(NotTried, left(c.until, p.now), c)
		p.answer(c, failed)
		return
	}
	p.schedule(p.now+wait, starts, c, b)
}

func (p *play) try(b *branch) {
	c := b.of
	b.tries++
	given := min(left(c.until, p.now), p.perTry())
	p.ids++
	b.child = &call{id: p.ids, hop: c.hop + 1, from: b, try: b.tries, until: forever}
	if given < left(c.until, p.now) {
		p.schedule(p.now+given, limits, c, b)
	}
	p.receive(b.child, p.told(c.hop+1, given))
}

// abandon is the end of a try's time: nobody waits for it any more.
func (p *play) abandon(b *branch) {
	child := b.child
	b.child = nil
	p.note(Abandoned, forever, child)
	if p.Stop {
		p.stop(child)
	}
	p.failedTry(b)
}

func (p *play) failedTry(b *branch) {
	h := p.hops[b.of.hop]
	if b.tries >= h.tries {
		p.answer(b.of, failed)
		return
	}
	p.again(b, h.backoff.wait(b.tries, p.rng))
}

// answer ends call c and tells who waits for it.
func (p *play) answer(c *call, v verdict) {
	c.over, c.end, c.verdict = true, p.now, v
	if c == p.entry {
		p.ended = p.now
	}
	p.note(answers(v), forever, c)
	if p.Stop {
		p.stopBelow(c)
	}
	b := c.from
	switch {
	case b == nil || b.child != c || b.of.over: // nobody waits for it
	case v == succeeded:
		b.child = nil
		if b.of.open--; b.of.open == 0 {
			p.answer(b.of, succeeded)
		}
	case v == permanent:
		b.child = nil
		p.answer(b.of, permanent)
	default:
		b.child = nil
		p.failedTry(b)
	}
}

// stop tells call c to stop at once.
func (p *play) stop(c *call) {
	if c.over {
		return
	}
	p.leave(c)
	c.over, c.end = true, p.now
	p.note(Stopped, forever, c)
	p.stopBelow(c)
}

func (p *play) stopBelow(c *call) {
	for _, b := range c.branches {
		if b.child != nil {
			p.stop(b.child)
		}
	}
}

// leave ends a hop's own work, if it is at it, and adds it up.
func (p *play) leave(c *call) {
	if !c.working {
		return
	}
	c.working = false
	done := p.now - c.start
	p.work += done
	if done > 0 {
		p.lastEnd = p.now
	}
	if !p.entry.over {
		return
	}
	p.lost.done += p.now - max(c.start, p.ended)
	if c.start >= p.ended {
		p.lost.started += done
	}
}
