package postgres

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"chaoslab/labs/retryqueue"
)

// groups puts the Takes of this process's workers together: those that come while
// a transaction is under way go together in the next (group commit). Workers with
// one job each then cost the server little more than a single one does, and do
// not meet at the head of the queue to wait for each other's locks.
type groups struct {
	mu      sync.Mutex
	waiting []*member
	runs    int // transactions under way, one after the other
	slow    int // of those, the ones that have been waiting for the server for slowAfter
}

// The bounds of groups.
const (
	// A transaction that waits, for a lock as a rule, holds up others no longer.
	slowAfter = 50 * time.Millisecond
	maxRuns   = 4
	maxClaim  = 256 // jobs, unless one member alone asks for more
	maxSettle = 1024
)

// member is one Take.
type member struct {
	take retryqueue.Take
	out  retryqueue.Taken
	err  error
	done chan struct{}

	// Under groups.mu.
	group *group // nil while it waits
	gone  bool   // nobody listens any more
}

// lacks is how many jobs m asked for and did not get.
func (m *member) lacks() int { return m.take.Claim - len(m.out.Jobs) }

// did says whether anything was done for m.
func (m *member) did() bool { return len(m.take.Settle) > 0 || len(m.out.Jobs) > 0 }

// group are the members of one transaction.
type group struct {
	members []*member
	stop    context.CancelFunc
}

// Take implements retryqueue.Store. It is one transaction, shared with Takes of
// other goroutines that come at the same time and want the same lease. If fewer
// jobs were claimed than asked for, a second one ends what can no longer be sent
// and claims once more; if that fails after the first did something, the next Take
// will meet the error again.
func (s *Store) Take(ctx context.Context, t retryqueue.Take) (retryqueue.Taken, error) {
	if len(t.Settle) == 0 && t.Claim <= 0 {
		return retryqueue.Taken{}, nil
	}
	if ctx.Err() != nil {
		return retryqueue.Taken{}, s.notBegun(ctx)
	}
	m := &member{take: t}
	if s.alone(m) {
		if s.step(func() { s.finish(ctx, []*member{m}, s.attempt(ctx, m)) }) {
			go s.run()
		}
		return m.out, m.err
	}
	select {
	case <-m.done:
		return m.out, m.err
	case <-ctx.Done():
	}
	if s.groups.withdraw(m) {
		return retryqueue.Taken{}, s.notBegun(ctx)
	}
	wait, cause := stopWait, errStopped
	if t.Claim <= 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		wait, cause = 0, errLate
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-m.done:
		return m.out, m.err
	case <-timer.C:
	}
	s.groups.leave(m)
	return retryqueue.Taken{}, s.cutOff(cause, ctx.Err())
}

// notBegun is the error of who gave up before the server was asked.
func (s *Store) notBegun(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return s.cutOff(errLate, ctx.Err())
	}
	return ctx.Err()
}

// alone says that m is to make its own transaction: nobody else's is under way.
// If not, m waits, for those that are or, if they all make it wait for long, for
// another.
func (s *Store) alone(m *member) bool {
	g := &s.groups
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.runs == 0 {
		g.runs = 1
		return true
	}
	m.done = make(chan struct{})
	g.waiting = append(g.waiting, m)
	s.another()
	return false
}

// another begins another run if all are slow. The lock is held.
func (s *Store) another() {
	if g := &s.groups; len(g.waiting) > 0 && g.runs == g.slow && g.runs < maxRuns {
		g.runs++
		go s.run()
	}
}

// withdraw takes m back if its transaction has not begun.
func (g *groups) withdraw(m *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.group != nil {
		return false
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(w *member) bool { return w == m })
	return true
}

// leave ends the transaction of m if nobody else listens either.
func (g *groups) leave(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m.gone = true
	if !slices.ContainsFunc(m.group.members, func(m *member) bool { return !m.gone }) {
		m.group.stop()
	}
}

// stay returns those of the list to whom somebody still listens.
func (g *groups) stay(list []*member) []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(list), func(m *member) bool { return m.gone })
}

// board makes a group of those who wait, in the order in which they came. The
// first who claims says for how long; whoever wants another lease goes later.
func (g *groups) board(stop context.CancelFunc) *group {
	g.mu.Lock()
	defer g.mu.Unlock()
	of := &group{stop: stop}
	var later []*member
	claims, settles, lease := 0, 0, time.Duration(0)
	for _, m := range g.waiting {
		t := m.take
		fits := len(of.members) == 0 || claims+t.Claim <= maxClaim && settles+len(t.Settle) <= maxSettle
		if t.Claim > 0 {
			fits = fits && (claims == 0 || lease == t.LeaseUntil.Sub(t.Now))
		}
		if !fits {
			later = append(later, m)
			continue
		}
		if t.Claim > 0 {
			claims, lease = claims+t.Claim, t.LeaseUntil.Sub(t.Now)
		}
		settles += len(t.Settle)
		m.group = of
		of.members = append(of.members, m)
	}
	g.waiting = later
	return of
}

// run makes transactions until nobody waits.
func (s *Store) run() {
	for s.step(s.transaction) {
		continue
	}
}

// step makes one transaction, f, and says whether anybody waits for the next. If
// not, the run is over.
func (s *Store) step(f func()) bool {
	g := &s.groups
	slow, over := false, false
	timer := time.AfterFunc(slowAfter, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !over {
			slow = true
			g.slow++
			s.another()
		}
	})
	f()
	timer.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	over = true
	if slow {
		g.slow--
	}
	if len(g.waiting) == 0 {
		g.runs--
		return false
	}
	return true
}

// attempt makes the first transaction of a member that goes alone.
func (s *Store) attempt(ctx context.Context, m *member) error {
	return s.again(ctx, m.take.Claim > 0, func(ctx context.Context, conn *pgxpool.Conn) error {
		return s.settleAndClaim(ctx, conn, []*member{m})
	})
}

// transaction makes one for those who wait. If the server refuses what several
// want together, each gets one of its own: what is wrong with one must not hurt
// others.
func (s *Store) transaction() {
	ctx, stop := context.WithCancel(s.life)
	defer stop()
	var g *group
	err := s.again(ctx, true, func(ctx context.Context, conn *pgxpool.Conn) error {
		if g == nil {
			g = s.groups.board(stop) // not before there is a connection
		}
		return s.settleAndClaim(ctx, conn, g.members)
	})
	if g == nil {
		g = s.groups.board(stop)
	}
	if code(err) != "" && len(g.members) > 1 {
		for _, m := range s.groups.stay(g.members) {
			s.finish(ctx, []*member{m}, s.attempt(ctx, m))
		}
	} else {
		s.finish(ctx, g.members, err)
	}
	runtime.Gosched() // who has just been served may be back at once
}

// finish goes on after the first transaction of list, which ended with err, and
// tells them.
func (s *Store) finish(ctx context.Context, list []*member, err error) {
	lacking := s.groups.stay(slices.DeleteFunc(slices.Clone(list), func(m *member) bool { return err != nil || m.lacks() <= 0 }))
	var more error
	if len(lacking) > 0 {
		more = s.again(ctx, true, func(ctx context.Context, conn *pgxpool.Conn) error { return sweepAndClaim(ctx, conn, lacking) })
	}
	claimed := 0
	for _, m := range list {
		claimed += len(m.out.Jobs)
		switch {
		case err != nil:
			m.out, m.err = retryqueue.Taken{}, err
		case more == nil || !slices.Contains(lacking, m):
		case m.did():
			m.out.More = len(m.out.Jobs) == 0 // nobody has looked yet
		default:
			m.out, m.err = retryqueue.Taken{}, more
		}
		if m.done != nil {
			close(m.done)
		}
	}
	s.tidy(ctx, claimed)
}
