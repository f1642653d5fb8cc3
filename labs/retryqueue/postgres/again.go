package postgres

import (
	"context"
	"errors"
	"fmt"
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
	actx, cancel := context.WithTimeout(ctx, s.busyWait)
	defer cancel()
	conn, err := s.pool.Acquire(actx)
	if err != nil {
		return s.late(actx, err)
	}
	defer conn.Release()
	octx, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	octx, cancel = context.WithTimeout(octx, opTimeout)
	defer cancel()
	if until, ok := ctx.Deadline(); ok && !firm {
		octx, cancel = context.WithDeadline(octx, until)
		defer cancel()
	}
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(stopWait, func() { cut(errStopped) })
		context.AfterFunc(octx, func() { t.Stop() })
	})
	defer stop()
	for n := 0; ; n++ {
		err := f(octx, conn)
		if c := code(err); n == patience || c != "40001" && c != "40P01" || ctx.Err() != nil {
			return s.late(octx, err)
		}
	}
}

// late is explain for an operation under ctx: it may be that whoever called gave
// up, or that the store did not answer in time.
func (s *Store) late(ctx context.Context, err error) error {
	switch {
	case err == nil || retryqueue.AboutJob(err) || ctx.Err() == nil:
		return s.explain(err)
	case context.Cause(ctx) == errStopped:
		return s.explain(fmt.Errorf("%w after the stop: %w", retryqueue.ErrNoAnswer, err))
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	}
	return s.explain(fmt.Errorf("%w in time: %w", retryqueue.ErrNoAnswer, err))
}

// errStopped is the cause with which an operation is cut off that went on for
// stopWait.
var errStopped = errors.New("stopped")

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
