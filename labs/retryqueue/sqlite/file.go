package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"chaoslab/labs/retryqueue"
)

// checkPath returns the absolute path, or an error for what is no path of a file.
func checkPath(path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("%w: empty: name a file", retryqueue.ErrAddress)
	case strings.Contains(path, "\x00"):
		return "", fmt.Errorf("%w: %q is no path", retryqueue.ErrAddress, path)
	case path == ":memory:":
		return "", fmt.Errorf("%w: a queue in memory would end with its process: name a file (one of this name is ./:memory:)", retryqueue.ErrAddress)
	case strings.HasPrefix(path, "file:"):
		return "", fmt.Errorf("%w: SQLite's URIs are not taken: name a file (one of this name is ./file:...)", retryqueue.ErrAddress)
	}
	return filepath.Abs(path)
}

// DSN is the address of the file for the driver "sqlite", with a mode (rw, rwc, ro)
// and pragmas, which are run on every new connection, in order. Transactions take
// the write lock when they begin.
func DSN(path, mode string, pragmas ...string) string {
	return dsn(path, url.Values{"mode": {mode}, "_pragma": pragmas, "_txlock": {"immediate"}})
}

func dsn(path string, q url.Values) string {
	return "file:" + strings.ReplaceAll(url.PathEscape(filepath.ToSlash(filepath.Clean(path))), "%2F", "/") + "?" + q.Encode()
}

// smallest is the size of the smallest file that SQLite can have written. It
// takes a shorter one for an empty one, and writes over it.
const smallest = 512

// look looks at the file before SQLite does. It returns nil if there is none and
// one is to be made. It does not open it: closing it would drop every lock that
// this process holds on it.
func (s *Store) look(o Options) (fs.FileInfo, error) {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.Create:
		return nil, retryqueue.ErrNoStore
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: no regular file", retryqueue.ErrNotOurs)
	case info.Size() == 0 && !o.Create:
		return nil, fmt.Errorf("%w: the file is empty", retryqueue.ErrNoStore)
	case info.Size() > 0 && info.Size() < smallest:
		return nil, fmt.Errorf("%w: no SQLite file", retryqueue.ErrNotOurs)
	}
	return info, nil
}

// file is the file that was opened: somebody may put another in its place.
type file struct {
	info   fs.FileInfo
	looked atomic.Int64 // when, in nanoseconds of the wall clock
	gone   atomic.Bool
}

// lookEvery is how often it is looked at while the store is used.
const lookEvery = 100 * time.Millisecond

func (f *file) open(path string) (err error) {
	f.info, err = os.Stat(path)
	return err
}

// there returns retryqueue.ErrGone if the file is no longer the one that was
// opened. What SQLite still writes then, nobody will ever read.
func (s *Store) there() error {
	f := &s.file
	if f.info == nil { // it is being opened
		return nil
	}
	if f.gone.Load() {
		return retryqueue.ErrGone
	}
	now := time.Now().UnixNano()
	if last := f.looked.Load(); now >= last && now-last < int64(lookEvery) {
		return nil
	}
	f.looked.Store(now)
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, f.info) {
		f.gone.Store(true)
		return retryqueue.ErrGone
	}
	return nil
}

// recheck makes the next use look at the file.
func (f *file) recheck() { f.looked.Store(0) }
