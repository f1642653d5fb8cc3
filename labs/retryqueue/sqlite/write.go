package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"modernc.org/sqlite"
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
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.lock }()
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

// code is SQLite's primary result code, -1 if err is not SQLite's, 0 if it is nil.
func code(err error) int {
	if err == nil {
		return lib.SQLITE_OK
	}
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return -1
}

// explain says what SQLite's result means for who uses the store.
func (s *Store) explain(err error) error {
	if err == nil || retryqueue.AboutJob(err) {
		return err
	}
	var kind error
	switch code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		kind = fmt.Errorf("%w (waited %v)", retryqueue.ErrBusy, s.busyWait)
	case lib.SQLITE_READONLY:
		kind = retryqueue.ErrReadOnly
	case lib.SQLITE_FULL:
		kind = retryqueue.ErrFull
	case lib.SQLITE_NOTADB:
		kind = fmt.Errorf("%w: no SQLite file", retryqueue.ErrNotOurs)
	case lib.SQLITE_CANTOPEN:
		kind = fmt.Errorf("cannot be opened (folder missing or not writable?): %w", err)
	default:
		kind = err
	}
	if e := (*storeError)(nil); errors.As(err, &e) {
		return err
	}
	return &storeError{s.path, kind}
}

// storeError is an error with the file that it is about.
type storeError struct {
	path string
	err  error
}

func (e *storeError) Error() string { return fmt.Sprintf("store %s: %v", e.path, e.err) }

func (e *storeError) Unwrap() error { return e.err }
