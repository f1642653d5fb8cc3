package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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
	// BusyWait is how long to wait for others that hold the lock, before
	// retryqueue.ErrBusy. Zero: 10 s.
	BusyWait time.Duration
}

// DefaultBusyWait is how long a write waits for others.
const DefaultBusyWait = 10 * time.Second

var _ retryqueue.Store = (*Store)(nil)

// Store is a retry queue's store in a file. Close it to release the file.
type Store struct {
	path     string
	busyWait time.Duration
	db       *sql.DB // read only
	wdb      *sql.DB
	lock     chan struct{} // held by who uses w
	w        *writer
}

// Open opens the store at path. Errors: retryqueue.ErrNoStore, ErrNotOurs,
// ErrNewer, ErrReadOnly, ErrBusy, ErrFull, wrapped with the path. A file that is
// not ours is left as it was.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.BusyWait == 0 {
		o.BusyWait = DefaultBusyWait
	}
	until := time.Now().Add(o.BusyWait)
	for {
		s := &Store{path: path, busyWait: o.BusyWait, lock: make(chan struct{}, 1)}
		err := s.open(ctx, o)
		if err == nil {
			return s, nil
		}
		_ = s.Close()
		// Where waiting could be a deadlock, as when several processes switch the
		// same new file to WAL, SQLite reports busy at once, whatever the timeout.
		if code(err) != lib.SQLITE_BUSY || time.Now().After(until) {
			return nil, s.explain(err)
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

func (s *Store) open(ctx context.Context, o Options) error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.Create:
		return retryqueue.ErrNoStore
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: no regular file", retryqueue.ErrNotOurs)
	case err == nil && info.Size() > 0:
		if err := magic(s.path); err != nil {
			return err
		}
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
	if s.wdb, err = sql.Open("sqlite", DSN(s.path, mode, "busy_timeout("+fmt.Sprint(o.BusyWait.Milliseconds())+")")); err != nil {
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
	// Find out now, not at the first job, whether the file can be written.
	if err := s.write(ctx, func(context.Context, *writer) error { return nil }); err != nil {
		return err
	}
	s.db, err = sql.Open("sqlite", DSN(s.path, "rw", "busy_timeout("+fmt.Sprint(o.BusyWait.Milliseconds())+")", "query_only(1)"))
	if err == nil {
		s.db.SetMaxOpenConns(4)
	}
	return err
}

// magic looks at the first bytes of the file: SQLite takes a very short file for
// an empty one and writes over it.
func magic(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const want = "SQLite format 3\x00"
	head := make([]byte, len(want))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != want {
		return fmt.Errorf("%w: no SQLite file", retryqueue.ErrNotOurs)
	}
	return nil
}

// DSN is the address of the file for the driver "sqlite", with a mode (rw, rwc) and
// pragmas, which are run on every new
// connection, in order. Transactions take the write lock when they begin.
func DSN(path, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": pragmas, "_txlock": {"immediate"}}
	return "file:" + strings.ReplaceAll(url.PathEscape(filepath.ToSlash(path)), "%2F", "/") + "?" + q.Encode()
}

// mark makes sure that the file is a store of this version, and makes it one if
// it is empty and create is set.
func (s *Store) mark(ctx context.Context, create bool) error {
	app, ver, objects, err := s.marks(ctx)
	if err != nil {
		return err
	}
	switch {
	case app == 0 && ver == 0 && objects == 0 && create:
		return s.create(ctx)
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

func (s *Store) marks(ctx context.Context) (app, ver, objects int, err error) {
	err = s.w.conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&app, &ver, &objects)
	return app, ver, objects, err
}

// create makes the schema in one transaction, unless another process was faster.
func (s *Store) create(ctx context.Context) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		if app, _, _, err := s.marks(ctx); err != nil || app == applicationID {
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

// Close releases the file. No method may be under way.
func (s *Store) Close() error {
	var errs []error
	if s.w != nil {
		s.w.close()
	}
	for _, db := range []*sql.DB{s.db, s.wdb} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
