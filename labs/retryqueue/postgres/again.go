package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"chaoslab/labs/retryqueue"
)

const (
	// patience is how often a transaction is tried again that PostgreSQL ended
	// for the sake of another (deadlock, serialization).
	patience = 10
	// opTimeout bounds one operation once it has begun.
	opTimeout = 30 * time.Second
	// stopWait is how long an operation that has begun goes on after a stop.
	stopWait = 2 * time.Second
)

// again runs f until PostgreSQL does not ask to run it again. Waiting for a
// connection ends with ctx. Once begun, f goes on for stopWait after ctx is
// cancelled: cut off in its middle, a claim could be lost with its attempt spent.
// A deadline of ctx holds at once, unless firm is set.
func (s *Store) again(ctx context.Context, firm bool, f func(context.Context, *pgxpool.Conn) error) error {
	octx, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	var begun atomic.Bool
	defer context.AfterFunc(ctx, func() {
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded) && (!firm || !begun.Load()):
			cut(errLate)
		case !begun.Load():
			cut(ctx.Err())
		default:
			t := time.AfterFunc(stopWait, func() { cut(errStopped) })
			context.AfterFunc(octx, func() { t.Stop() })
		}
	})()
	late := time.AfterFunc(s.busyWait, func() { cut(errLate) })
	defer late.Stop()
	conn, err := s.pool.Acquire(octx)
	if err != nil {
		return s.late(octx, err)
	}
	defer conn.Release()
	begun.Store(true)
	late.Reset(opTimeout)
	for n := 0; ; n++ {
		err := f(octx, conn)
		if c := code(err); n == patience || c != "40001" && c != "40P01" || ctx.Err() != nil {
			return s.late(octx, err)
		}
	}
}

// The causes with which an operation is cut off.
var (
	errStopped = errors.New("stopped")
	errLate    = errors.New("late")
)

// late is explain for an operation under ctx: it may be that whoever called gave
// up, or that the store did not answer in time.
func (s *Store) late(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err == nil || retryqueue.AboutJob(err) || cause == nil:
		return s.explain(err)
	case errors.Is(cause, context.Canceled):
		return cause
	}
	return s.cutOff(cause, err)
}

// cutOff is the error of an operation that was cut off for cause and ended with
// err.
func (s *Store) cutOff(cause, err error) error {
	when := "in time"
	if cause == errStopped {
		when = "after the stop"
	}
	return s.explain(fmt.Errorf("%w %s: %w", retryqueue.ErrNoAnswer, when, err))
}

func (s *Store) transact(ctx context.Context, f func(context.Context, pgx.Tx) error) error {
	return s.again(ctx, true, func(ctx context.Context, conn *pgxpool.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return f(ctx, tx) })
	})
}

// read runs f, which only reads: it ends with ctx.
func (s *Store) read(ctx context.Context, f func(context.Context) error) error {
	octx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	err := f(octx)
	if errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return s.late(octx, err)
}
