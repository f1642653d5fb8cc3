package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver
	lib "modernc.org/sqlite/lib"

	"chaoslab/labs/retryqueue"
)

// Options say how to open a store. The zero value opens one that is there, at
// full durability.
type Options struct {
	// Create makes the store if the file is not there or empty.
	Create bool
	// Normal sets synchronous=NORMAL: faster, but a loss of power can undo the
	// last transactions, and with them claims: attempts are then given back.
	Normal bool
	// ReadOnly opens it for looking only, beside any number of writers and without
	// a lock that they must wait for. Nothing is made or changed; what would write
	// is refused with retryqueue.ErrReadOnly. It also opens a file, or a folder,
	// that may not be written to.
	ReadOnly bool
	// BusyWait is how long to wait for others that hold the lock, before
	// retryqueue.ErrBusy. Zero: 10 s.
	BusyWait time.Duration
}

// DefaultBusyWait is how long a write waits for others.
const DefaultBusyWait = 10 * time.Second

// Store is a retry queue's store in a file. Close it to release the file.
type Store struct {
	name     string // as it was given
	path     string // absolute
	file     file
	busyWait time.Duration
	db       *sql.DB // read only; nil if each reading opens its own
	wdb      *sql.DB
	lock     chan struct{} // held by who uses w
	w        *writer
	turn     time.Time // since when no other process was met or given way to
	crowded  time.Time // when another one was last met at the lock
}

// Open opens the store at path. Errors: retryqueue.ErrAddress, ErrNoStore,
// ErrNotOurs, ErrNewer, ErrReadOnly, ErrDamaged, ErrBusy, ErrFull, wrapped with the
// path. A file that is not ours is left as it was. The path is that of a file:
// ":memory:" and SQLite's URIs are refused.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.BusyWait == 0 {
		o.BusyWait = DefaultBusyWait
	}
	abs, err := checkPath(path)
	if err != nil {
		return nil, &storeError{path, err}
	}
	if o.ReadOnly && (o.Create || o.Normal) {
		return nil, &storeError{path, errors.New("ReadOnly does not go with Create and Normal")}
	}
	_, statErr := os.Stat(abs)
	fresh := errors.Is(statErr, fs.ErrNotExist)
	until := time.Now().Add(o.BusyWait)
	for {
		s := &Store{name: path, path: abs, busyWait: o.BusyWait, lock: make(chan struct{}, 1)}
		err := s.open(ctx, o)
		if err == nil {
			return s, nil
		}
		_ = s.Close()
		// Where waiting could be a deadlock, as when several processes switch the
		// same new file to WAL, SQLite reports busy at once, whatever the timeout.
		if code(err) != lib.SQLITE_BUSY || time.Now().After(until) {
			err = s.explain(err)
			if fresh && errors.Is(err, retryqueue.ErrFull) {
				s.unmake()
			}
			return nil, err
		}
		pause := time.NewTimer(rand.N(20 * time.Millisecond))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, ctx.Err()
		}
	}
}

// unmake removes the file that was begun and holds nothing yet. Only for want of
// room: after any other trouble another process may just be making it.
func (s *Store) unmake() {
	if info, err := os.Stat(s.path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		_ = os.Remove(s.path)
	}
}

func (s *Store) open(ctx context.Context, o Options) error {
	info, err := s.look(o)
	if err != nil {
		return err
	}
	if o.ReadOnly {
		return s.openReader(ctx)
	}
	if info != nil && !writable(s.path, info) {
		return retryqueue.ErrReadOnly // SQLite would begin, and leave files beside it
	}
	mode := "rw"
	if o.Create {
		mode = "rwc"
	}
	synchronous := "FULL"
	if o.Normal {
		synchronous = "NORMAL"
	}
	// The busy timeout comes first, or switching to WAL fails beside another
	// process; once everything is set it is switched off (see begin).
	if s.wdb, err = sql.Open("sqlite", DSN(s.path, mode, s.busy())); err != nil {
		return err
	}
	conn, err := s.wdb.Conn(ctx)
	if err != nil {
		return err
	}
	s.w = &writer{conn: conn}
	if err := s.w.prepare(ctx, s.w.frame()...); err != nil {
		return err
	}
	if err := s.mark(ctx, o.Create); err != nil {
		return err
	}
	// A longer log than SQLite's own 1000 pages gathers more changes of the same
	// page before it is written twice.
	for _, p := range []string{"journal_mode = WAL", "synchronous = " + synchronous, "wal_autocheckpoint = 4000", "busy_timeout = 0"} {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	if err := s.w.prepare(ctx, s.w.hot()...); err != nil {
		return err
	}
	if err := s.file.open(s.path); err != nil {
		return err
	}
	// Find out now, not at the first job, whether the file can be written.
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `UPDATE counts SET pending = pending WHERE one = 0`)
		return err
	})
	if err != nil {
		return err
	}
	return s.pool()
}

// mark makes sure that the file is a store of this version, and makes it one if
// it is empty and create is set.
func (s *Store) mark(ctx context.Context, create bool) error {
	app, ver, objects, err := marks(ctx, s.w.conn)
	if err != nil {
		return err
	}
	if app == 0 && ver == 0 && objects == 0 && create {
		return s.create(ctx)
	}
	return known(app, ver, objects)
}

// known makes sure that the marks are those of a store of this version.
func known(app, ver, objects int) error {
	switch {
	case app == 0 && ver == 0 && objects == 0:
		return fmt.Errorf("%w: the file is empty", retryqueue.ErrNoStore)
	case app != applicationID:
		return fmt.Errorf("%w: another program's SQLite file", retryqueue.ErrNotOurs)
	case ver > version:
		return fmt.Errorf("%w: its schema is %d, this program knows %d", retryqueue.ErrNewer, ver, version)
	case ver < 1:
		return fmt.Errorf("%w: it has no schema version", retryqueue.ErrNotOurs)
	}
	return nil
}

func marks(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
},
) (app, ver, objects int, err error) {
	err = q.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&app, &ver, &objects)
	return app, ver, objects, err
}

// create makes the schema in one transaction, unless another process was faster.
func (s *Store) create(ctx context.Context) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		if app, _, _, err := marks(ctx, w.conn); err != nil || app == applicationID {
			return err
		}
		for _, q := range []string{schema, fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", version)} {
			if _, err := w.conn.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close releases the file. No method may be under way. It returns
// retryqueue.ErrGone if the file is no longer there and no method has said so:
// what was written last is lost then.
func (s *Store) Close() error {
	var errs []error
	if s.w != nil && !s.file.gone.Load() {
		s.file.recheck()
		errs = append(errs, s.explain(s.there()))
	}
	if s.w != nil {
		s.w.close(s.file.gone.Load())
	}
	for _, db := range []*sql.DB{s.db, s.wdb} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
