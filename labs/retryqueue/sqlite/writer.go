package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"modernc.org/sqlite"
)

// writer is the one connection that writes. The statements that every attempt
// uses are the driver's own: what database/sql does for each would cost as much
// as a third of a claim. conn serves all others.
type writer struct {
	conn *sql.Conn

	begin, commit, rollback statement
	settle, claimOne, claim statement
	sweep, next, renew, add statement

	args []driver.NamedValue // of the statement that runs
	row  []driver.Value
}

// statement is a statement of the driver, prepared once. Only who holds the
// store's lock may run it.
type statement interface {
	driver.StmtExecContext
	driver.StmtQueryContext
	Close() error
}

// prepare prepares those of the list that are not yet.
func (w *writer) prepare(ctx context.Context, list ...prepared) error {
	return w.conn.Raw(func(dc any) error {
		c, ok := dc.(driver.ConnPrepareContext)
		if !ok {
			return errors.New("the driver prepares no statements")
		}
		for _, p := range list {
			s, err := c.PrepareContext(ctx, p.text)
			if err != nil {
				return err
			}
			if *p.to, ok = s.(statement); !ok {
				return errors.Join(errors.New("the driver's statements take no context"), s.Close())
			}
		}
		return nil
	})
}

type prepared struct {
	to   *statement
	text string
}

// frame are the statements around a transaction; they need no schema.
func (w *writer) frame() []prepared {
	return []prepared{{&w.begin, "BEGIN IMMEDIATE"}, {&w.commit, "COMMIT"}, {&w.rollback, "ROLLBACK"}}
}

// hot are the statements that every attempt uses.
func (w *writer) hot() []prepared {
	return []prepared{
		{&w.settle, sqlSettle},
		{&w.claimOne, sqlClaimOne},
		{&w.claim, sqlClaim},
		{&w.sweep, sqlSweep},
		{&w.next, sqlNext},
		{&w.renew, sqlRenew},
		{&w.add, sqlAdd},
	}
}

// close closes the connection. If the file is gone, the log beside its path may
// be that of another store by now, which SQLite must not delete.
func (w *writer) close(gone bool) {
	_ = w.conn.Raw(func(dc any) error { // it fails only if the connection is gone
		if c, ok := dc.(sqlite.FileControl); ok && gone {
			_, _ = c.FileControlPersistWAL("main", 1)
		}
		for _, p := range append(w.frame(), w.hot()...) {
			if *p.to != nil {
				_ = (*p.to).Close()
			}
		}
		return nil
	})
	_ = w.conn.Close()
}

// named makes the driver's arguments of args: int64, string and []byte.
func (w *writer) named(args []driver.Value) []driver.NamedValue {
	w.args = w.args[:0]
	for i, a := range args {
		w.args = append(w.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return w.args
}

// exec runs s and returns how many rows it changed.
func (w *writer) exec(ctx context.Context, s statement, args ...driver.Value) (n int64, err error) {
	err = w.conn.Raw(func(any) error {
		r, err := s.ExecContext(ctx, w.named(args))
		if err != nil {
			return err
		}
		n, err = r.RowsAffected()
		return err
	})
	return n, err
}

// query runs s to its end and calls each with every row, which is valid until it
// returns.
func (w *writer) query(ctx context.Context, s statement, each func([]driver.Value) error, args ...driver.Value) error {
	return w.conn.Raw(func(any) (err error) {
		rows, err := s.QueryContext(ctx, w.named(args))
		if err != nil {
			return err
		}
		// A statement that writes commits when it is closed.
		defer func() { err = errors.Join(err, rows.Close()) }()
		n := len(rows.Columns())
		if cap(w.row) < n {
			w.row = make([]driver.Value, n)
		}
		row := w.row[:n]
		for {
			switch err := rows.Next(row); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			if err := each(row); err != nil {
				return err
			}
		}
	})
}
