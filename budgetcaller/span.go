package budgetcaller

import (
	"context"
	"errors"
	"math"
	"time"
)

// never is a point in time that does not come.
const never = math.MaxInt64

// span holds the points in time at which an attempt's fixed limits end, in
// nanoseconds since its start; never where there is none.
type span struct {
	start   time.Time
	budget  int64
	attempt int64
	pool    int64
	connect int64 // never until the lookup begins
	read    int64 // a length, not a point: the silence that is borne
}

// newSpan begins at start. A limit that ends with the budget or after it is dropped:
// a tie counts as the budget.
func newSpan(l Limits, start, deadline time.Time) span {
	s := span{start: start, budget: never, connect: never, read: int64(l.Read)}
	if !deadline.IsZero() {
		s.budget = int64(deadline.Sub(s.start))
	}
	s.attempt = after(0, l.Attempt)
	s.pool = after(0, l.Pool)
	return s
}

// now is the time since the start, at least 1 so that 0 can mean "not yet".
func (s *span) now() int64 { return max(1, int64(time.Since(s.start))) }

// after is the point d after the point at, or never if d is NoLimit or the sum
// would overflow.
func after(at int64, d time.Duration) int64 {
	if d == NoLimit || at > never-int64(d) {
		return never
	}
	return at + int64(d)
}

// nearest returns the earliest end of a limit that is in force in phase p, and
// which. silence is when the partner will have been silent for too long. On a
// tie the outer limit counts: budget before attempt before the rest.
func (s *span) nearest(p Phase, silence int64) (int64, Limit) {
	at, limit := s.budget, LimitBudget
	if s.attempt < at {
		at, limit = s.attempt, LimitAttempt
	}
	inner, name := int64(never), LimitNone
	switch p {
	case PhasePool:
		inner, name = s.pool, LimitPool
	case PhaseLookup, PhaseConnect, PhaseTLS:
		inner, name = s.connect, LimitConnect
	case PhaseRequest, PhaseFirstByte, PhaseHead, PhaseBody:
		inner, name = silence, LimitRead
	}
	if inner < at {
		at, limit = inner, name
	}
	if at == never {
		return never, LimitNone
	}
	return at, limit
}

// configured is how long limit was when it was set.
func (s *span) configured(limit Limit, l Limits, b *budgetContext) time.Duration {
	switch limit {
	case LimitConnect:
		return l.Connect
	case LimitRead:
		return l.Read
	case LimitAttempt:
		return l.Attempt
	case LimitPool:
		return l.Pool
	case LimitFloor:
		return l.Floor
	case LimitBudget:
		if b != nil && b.total != NoLimit && b.deadline.Sub(s.start) == time.Duration(s.budget) {
			return b.total
		}
		if s.budget == never {
			return 0
		}
		return max(0, time.Duration(s.budget))
	}
	return 0
}

// classOf is the class of an attempt that limit ended in phase p.
func classOf(limit Limit, p Phase) Class {
	switch limit {
	case LimitBudget:
		return ClassBudgetExhausted
	case LimitAttempt:
		return ClassAttemptTimeout
	case LimitPool:
		return ClassPoolTimeout
	case LimitConnect:
		if p == PhaseTLS {
			return ClassTLSTimeout
		}
		return ClassConnectTimeout
	case LimitRead:
		if p == PhaseRequest {
			return ClassRequestTimeout
		}
		return ClassReadTimeout
	}
	return ClassNone
}

// canceled reports whether ctx is over because somebody gave up, not because
// its deadline, which is the budget, has come.
func canceled(ctx context.Context) bool {
	if b := plainBudget(ctx); b != nil {
		return b.canceled() // which needs no look at the clock
	}
	return errors.Is(ctx.Err(), context.Canceled)
}
