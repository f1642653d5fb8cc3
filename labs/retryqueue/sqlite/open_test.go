package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// execs runs statements on the file with a connection of its own.
func execs(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", sqlite.DSN(path, "rwc", "busy_timeout(10000)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		create  bool
		want    error
	}{
		{"nothing there", func(*testing.T, string) {}, false, retryqueue.ErrNoStore},
		{"an empty file", func(t *testing.T, path string) { write(t, path, "") }, false, retryqueue.ErrNoStore},
		{"a text", func(t *testing.T, path string) { write(t, path, strings.Repeat("no database at all\n", 50)) }, true, retryqueue.ErrNotOurs},
		{"a short text", func(t *testing.T, path string) { write(t, path, "x") }, true, retryqueue.ErrNotOurs},
		{"a folder", func(t *testing.T, path string) { mkdir(t, path) }, true, retryqueue.ErrNotOurs},
		{"another program's SQLite file", func(t *testing.T, path string) { execs(t, path, "CREATE TABLE x (y)") }, true, retryqueue.ErrNotOurs},
		{"another's, marked as such", func(t *testing.T, path string) {
			execs(t, path, "PRAGMA application_id = 5", "PRAGMA user_version = 9")
		}, true, retryqueue.ErrNotOurs},
		{"a newer version", func(t *testing.T, path string) { made(t, path); execs(t, path, "PRAGMA user_version = 2") }, true, retryqueue.ErrNewer},
		{"no folder", func(t *testing.T, path string) { mkdir(t, path); remove(t, path) }, false, retryqueue.ErrNoStore},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "que ue%20#?.db")
			c.prepare(t, path)
			before, _ := os.ReadFile(path)
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: c.create})
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with the path and %v", err, c.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %d bytes before, %d after", len(before), len(after))
			}
		})
	}
}

func TestOpenSaysWhereAFolderIsMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none", "queue.db")
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if want := "store " + path + ": its folder is not there: make it first"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// SQLite tells nothing but that it could not open a file: what it was is found out.
func TestOpenSaysWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		path func(t *testing.T, dir string) string
		want string
	}{
		{"a link to nowhere", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "queue.db")
			if err := os.Symlink(filepath.Join(dir, "none", "queue.db"), path); err != nil {
				if runtime.GOOS == "windows" {
					t.Skip(err) // it takes a privilege there
				}
				t.Fatal(err)
			}
			return path
		}, "(-wal, -shm)"},
		{"a long path", func(t *testing.T, dir string) string {
			for range 3 {
				dir = filepath.Join(dir, strings.Repeat("x", 200))
				mkdir(t, dir)
			}
			return filepath.Join(dir, "queue.db")
		}, "longer than SQLite takes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := c.path(t, t.TempDir())
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "(14)") {
				t.Errorf("got %v, want one line with %s and no number", err, c.want)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// made makes a store with one job.
func made(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(t.Context(), 10, []retryqueue.NewJob{{ID: "first", Payload: []byte("x"), Deadline: 1000, MaxAttempts: 1}}); err != nil {
		t.Fatal(err)
	}
}

// Who holds the lock for ever does not hold us for ever, and nothing is lost.
func TestLockedByAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "queue.db")
	made(t, path)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyWait: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other, err := sql.Open("sqlite", sqlite.DSN(path, "rwc", "busy_timeout(10000)"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	lock := func(statement string) {
		t.Helper()
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	lock("BEGIN IMMEDIATE")
	start := time.Now()
	_, err = s.Take(t.Context(), retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 30})
	if took := time.Since(start); !errors.Is(err, retryqueue.ErrBusy) || took < 200*time.Millisecond || took > 5*time.Second {
		t.Errorf("locked: got %v after %v, want %v after 200 ms", err, took, retryqueue.ErrBusy)
	}
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{BusyWait: 100 * time.Millisecond})
	if !errors.Is(err, retryqueue.ErrBusy) {
		t.Errorf("Open while locked: got %v, want %v", err, retryqueue.ErrBusy)
	}
	if st, err := s.Stats(t.Context(), 20); st.Pending != 1 || err != nil {
		t.Errorf("reading while locked: got %+v, %v", st, err)
	}
	lock("ROLLBACK")
	if taken, err := s.Take(t.Context(), retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 30}); len(taken.Jobs) != 1 || err != nil {
		t.Errorf("after the lock: got %+v, %v", taken, err)
	}
}

// On a full disk nothing is half-written, and what was there stays.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "queue.db")
	made(t, path)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := sqlite.LimitPages(t.Context(), s, 60); err != nil {
		t.Fatal(err)
	}
	var jobs []retryqueue.NewJob
	for i := range 20 {
		jobs = append(jobs, retryqueue.NewJob{ID: fmt.Sprint("large-", i), Payload: make([]byte, 100_000), Deadline: 1000, MaxAttempts: 1})
	}
	if _, err := s.Add(t.Context(), 20, jobs); !errors.Is(err, retryqueue.ErrFull) {
		t.Errorf("Add: got %v, want %v", err, retryqueue.ErrFull)
	}
	if st, err := s.Stats(t.Context(), 20); st.Pending != 1 || err != nil {
		t.Errorf("after it: got %+v, %v, want the first job alone", st, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if taken, err := s.Take(t.Context(), retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 30}); len(taken.Jobs) != 1 || err != nil {
		t.Errorf("Take after it: got %+v, %v", taken, err)
	}
}
