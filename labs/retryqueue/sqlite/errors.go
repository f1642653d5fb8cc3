package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"chaoslab/labs/retryqueue"
)

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
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		kind = fmt.Errorf("%w (waited %v)", retryqueue.ErrBusy, s.busyWait)
	case lib.SQLITE_READONLY:
		kind = retryqueue.ErrReadOnly
	case lib.SQLITE_FULL:
		kind = retryqueue.ErrFull
	case lib.SQLITE_IOERR:
		kind = err
		if s.noRoom(err) {
			kind = retryqueue.ErrFull
		}
	case lib.SQLITE_CORRUPT:
		kind = fmt.Errorf("%w: %w", retryqueue.ErrDamaged, err)
	case lib.SQLITE_ERROR: // our own statements fail so only if a table is not what it was
		kind = fmt.Errorf("%w: %w", retryqueue.ErrDamaged, err)
	case lib.SQLITE_NOTADB:
		kind = fmt.Errorf("%w: no SQLite file", retryqueue.ErrNotOurs)
	case lib.SQLITE_CANTOPEN:
		kind = s.unopened()
	default:
		kind = err
	}
	if e := (*storeError)(nil); errors.As(err, &e) {
		return err
	}
	return &storeError{s.name, kind}
}

// longestPath leaves room in SQLite's 512 bytes for "-journal" and what ends it.
const longestPath = 500

// unopened says why SQLite could not open the file or those beside it, as far as
// it can be found out: SQLite tells nothing but that it could not.
func (s *Store) unopened() error {
	dir := filepath.Dir(s.path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("its folder is not there: make it first")
	case err != nil:
		return fmt.Errorf("its folder: %w", errors.Unwrap(err))
	case !writable(dir, info):
		return errors.New("its folder may not be written to, which SQLite must for the files beside it (-wal, -shm)")
	case diskFull(dir):
		return retryqueue.ErrFull
	case len(s.path) > longestPath:
		return fmt.Errorf("its path of %d bytes is longer than SQLite takes", len(s.path))
	}
	return errors.New("it, or a file that SQLite keeps beside it (-wal, -shm), cannot be opened: may this user read and write them, and open more files?")
}

// noRoom says whether an I/O error is that of a full disk, which SQLite does not
// always call so: not if the file beside the log cannot grow, or the system found
// no room only when it wrote its own buffers.
func (s *Store) noRoom(err error) bool {
	e := (*sqlite.Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() {
	case lib.SQLITE_IOERR_SHMSIZE:
		return true
	case lib.SQLITE_IOERR_WRITE, lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_DIR_FSYNC, lib.SQLITE_IOERR_TRUNCATE, lib.SQLITE_IOERR_SHMMAP, lib.SQLITE_IOERR_SHMOPEN:
		return diskFull(filepath.Dir(s.path))
	}
	return false
}

// storeError is an error with the file that it is about.
type storeError struct {
	name string
	err  error
}

func (e *storeError) Error() string {
	name := e.name
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		name = strconv.Quote(name)
	}
	return fmt.Sprintf("store %s: %v", name, e.err)
}

func (e *storeError) Unwrap() error { return e.err }
