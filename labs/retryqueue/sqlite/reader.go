package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"chaoslab/labs/retryqueue"
)

// openReader opens the store for looking only.
func (s *Store) openReader(ctx context.Context) error {
	if err := s.file.open(s.path); err != nil {
		return err
	}
	// Who may write cleans up behind itself what SQLite puts beside the file.
	if dir, err := os.Stat(filepath.Dir(s.path)); err == nil && writable(filepath.Dir(s.path), dir) && writable(s.path, s.file.info) {
		if err := s.pool(); err != nil {
			return err
		}
	}
	return s.read(func(db *sql.DB) error {
		app, ver, objects, err := marks(ctx, db)
		if err != nil {
			return err
		}
		return known(app, ver, objects)
	})
}

// pool opens the connections that only read.
func (s *Store) pool() (err error) {
	s.db, err = sql.Open("sqlite", DSN(s.path, "rw", s.busy(), "query_only(1)"))
	if err == nil {
		s.db.SetMaxOpenConns(4)
	}
	return err
}

func (s *Store) busy() string { return fmt.Sprintf("busy_timeout(%d)", s.busyWait.Milliseconds()) }

// read runs f, which only reads, perhaps more than once.
func (s *Store) read(f func(*sql.DB) error) error {
	if err := s.there(); err != nil {
		return s.explain(err)
	}
	if s.db != nil {
		return s.explain(f(s.db))
	}
	// We may not write, so that SQLite cannot put its files beside this one. If
	// nobody has it open, it is read as one that does not change; if it did in the
	// meantime, it is read again.
	for n := 0; ; n++ {
		before := s.stamp()
		err := s.readAlone(before, f)
		if n == 10 || before.log > 0 || s.stamp() == before {
			return s.explain(err)
		}
	}
}

func (s *Store) readAlone(at stamp, f func(*sql.DB) error) error {
	q := url.Values{"mode": {"ro"}, "_pragma": {s.busy(), "query_only(1)"}}
	if at.log == 0 {
		q.Set("immutable", "1")
	}
	db, err := sql.Open("sqlite", dsn(s.path, q))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	return f(db)
}

// stamp tells one state of the file from another.
type stamp struct {
	size, changed int64
	log           int64 // bytes of the log beside it
}

func (s *Store) stamp() stamp {
	var at stamp
	if info, err := os.Stat(s.path); err == nil {
		at.size, at.changed = info.Size(), info.ModTime().UnixNano()
	}
	if info, err := os.Stat(s.path + "-wal"); err == nil {
		at.log = info.Size()
	}
	return at
}

var _ retryqueue.Store = (*Store)(nil)
