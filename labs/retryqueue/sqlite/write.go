package sqlite

import (
	"context"
	"math/rand/v2"
	"time"

	lib "modernc.org/sqlite/lib"

	"chaoslab/labs/retryqueue"
)

// write runs f in one transaction that holds the write lock from its beginning.
// f may run more than once. Once the transaction has begun, ctx does not end it:
// cut off in its middle, a claim could be lost with its attempt spent.
func (s *Store) write(ctx context.Context, f func(context.Context, *writer) error) error {
	return s.patiently(ctx, func(ctx context.Context) error { return s.transact(ctx, f) })
}

// single runs f, which is one statement that writes: that is a transaction by
// itself, at half the cost.
func (s *Store) single(ctx context.Context, f func(context.Context, *writer) error) error {
	return s.patiently(ctx, func(ctx context.Context) error { return f(ctx, s.w) })
}

// patiently runs f, again and again while another process holds the lock.
func (s *Store) patiently(ctx context.Context, f func(context.Context) error) error {
	if s.w == nil {
		return s.explain(retryqueue.ErrReadOnly)
	}
	if err := s.there(); err != nil {
		return s.explain(err)
	}
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.lock }()
	if err := s.giveWay(ctx); err != nil {
		return err
	}
	var until time.Time
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f(context.WithoutCancel(ctx))
		if code(err) != lib.SQLITE_BUSY {
			return s.explain(err)
		}
		now := time.Now()
		s.turn, s.crowded = now, now
		if until.IsZero() {
			until = now.Add(s.busyWait)
		} else if now.After(until) {
			return s.explain(err)
		}
		// A random pause shares the lock evenly; SQLite's own waiting does not.
		t := time.NewTimer(rand.N(time.Millisecond))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

const (
	// turnTime is how long a process goes on without giving way to another that
	// wants to write.
	turnTime = 10 * time.Millisecond
	// crowdTime is how long another is believed to want to, since one was met.
	crowdTime = time.Second
	// pauseTime is how long it gives way at least: longer than another waits before
	// it asks again.
	pauseTime = 2 * time.Millisecond
)

// giveWay waits longer than another process does before it asks again, even late,
// now and then if there is one: the lock is free for so short a time between two
// transactions that chance alone would share it unevenly.
func (s *Store) giveWay(ctx context.Context) error {
	now := time.Now()
	if now.Sub(s.crowded) > crowdTime || now.Sub(s.turn) < turnTime {
		return nil
	}
	t := time.NewTimer(pauseTime + rand.N(time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.turn = time.Now()
	return nil
}

func (s *Store) transact(ctx context.Context, f func(context.Context, *writer) error) error {
	if _, err := s.w.exec(ctx, s.w.begin); err != nil {
		return err
	}
	err := f(ctx, s.w)
	if err == nil {
		_, err = s.w.exec(ctx, s.w.commit)
	}
	if err != nil {
		// It fails if SQLite rolled back by itself, as on a full disk.
		_, _ = s.w.exec(ctx, s.w.rollback)
	}
	return err
}
