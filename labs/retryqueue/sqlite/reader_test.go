package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// listing is every file of the folder with its mode and size.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %v %d", e.Name(), info.Mode(), info.Size()))
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}

// look reads with everything that reads, and tries to write with everything that
// writes.
func look(t *testing.T, path string, pending int64) {
	t.Helper()
	ctx := t.Context()
	s, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true, BusyWait: time.Second})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if st, err := s.Stats(ctx, 10); st.Pending != pending || err != nil {
		t.Errorf("Stats: got %+v, %v, want %d pending", st, err, pending)
	}
	if j, err := s.Get(ctx, "first"); j.ID != "first" || err != nil {
		t.Errorf("Get: got %+v, %v", j, err)
	}
	if _, err := s.Get(ctx, "unknown"); !errors.Is(err, retryqueue.ErrUnknownID) {
		t.Errorf("Get of an unknown id: got %v", err)
	}
	list, err := s.List(ctx, retryqueue.Filter{})
	if int64(len(list)) != pending || err != nil {
		t.Errorf("List: got %d, %v", len(list), err)
	}
	if acts, err := s.Acts(ctx, "first"); len(acts) != 0 || err != nil {
		t.Errorf("Acts: got %v, %v", acts, err)
	}
	if err := s.Check(ctx); err != nil {
		t.Errorf("Check: %v", err)
	}
	_, add := s.Add(ctx, 20, []retryqueue.NewJob{{ID: "no", Deadline: 1000, MaxAttempts: 1}})
	_, take := s.Take(ctx, retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 30})
	_, renew := s.Renew(ctx, "first", 1, 30)
	_, redrive := s.Redrive(ctx, []retryqueue.Act{{ID: "first", At: 20, MoreAttempts: 1, Deadline: 1000}})
	_, purge := s.Purge(ctx, 100, nil)
	for what, err := range map[string]error{"Add": add, "Take": take, "Renew": renew, "Redrive": redrive, "Purge": purge} {
		if !errors.Is(err, retryqueue.ErrReadOnly) {
			t.Errorf("%s: got %v, want %v", what, err, retryqueue.ErrReadOnly)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Looking leaves everything as it was, whoever has the store open and whatever
// the modes of the file and its folder are.
func TestReadOnlyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions work otherwise on Windows")
	}
	for _, c := range []struct {
		name      string
		file, dir os.FileMode
		open      bool // by a writer, meanwhile
	}{
		{"all may be written", 0o644, 0o755, false},
		{"beside a writer", 0o644, 0o755, true},
		{"the file may not be written", 0o444, 0o755, false},
		{"neither may be written", 0o444, 0o555, false},
		{"neither may be written, beside a writer", 0o444, 0o555, true},
		{"the folder may not be written", 0o644, 0o555, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "queue.db")
			made(t, path)
			pending := int64(1)
			if c.open {
				w, err := sqlite.Open(t.Context(), path, sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				if _, err := w.Add(t.Context(), 10, []retryqueue.NewJob{{ID: "second", Deadline: 1000, MaxAttempts: 1}}); err != nil {
					t.Fatal(err)
				}
				pending = 2
			}
			for name, mode := range map[string]os.FileMode{path: c.file, dir: c.dir} {
				if err := os.Chmod(name, mode); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
			before := listing(t, dir)
			look(t, path, pending)
			if after := listing(t, dir); after != before {
				t.Errorf("the folder was changed:\nbefore %s\nafter  %s", before, after)
			}
		})
	}
}

// Looking does not wait for who holds the write lock.
func TestReadOnlyWaitsForNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "queue.db")
	made(t, path)
	w, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	other, err := sql.Open("sqlite", sqlite.DSN(path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	look(t, path, 1)
}

func TestReadOnlyRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		o       sqlite.Options
		want    error
	}{
		{"nothing there", func(*testing.T, string) {}, sqlite.Options{}, retryqueue.ErrNoStore},
		{"an empty file", func(t *testing.T, path string) { write(t, path, "") }, sqlite.Options{}, retryqueue.ErrNoStore},
		{"another program's", func(t *testing.T, path string) { execs(t, path, "CREATE TABLE x (y)") }, sqlite.Options{}, retryqueue.ErrNotOurs},
		{"a newer version", func(t *testing.T, path string) { made(t, path); execs(t, path, "PRAGMA user_version = 2") }, sqlite.Options{}, retryqueue.ErrNewer},
		{"with Create", func(*testing.T, string) {}, sqlite.Options{Create: true}, nil},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "queue.db")
		c.prepare(t, path)
		before := listing(t, dir)
		c.o.ReadOnly = true
		s, err := sqlite.Open(t.Context(), path, c.o)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("%s: the folder was changed:\nbefore %s\nafter  %s", c.name, before, after)
		}
	}
}

// A file that may not be written is refused before SQLite leaves anything beside
// it, also to who may write everything.
func TestAReadOnlyFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, create := range []bool{true, false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "queue.db")
		made(t, path)
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
		before := listing(t, dir)
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: create})
		if err == nil {
			_ = s.Close()
		}
		if want := fmt.Sprintf("store %s: %v", path, retryqueue.ErrReadOnly); err == nil || err.Error() != want {
			t.Errorf("create %v: got %v, want %q", create, err, want)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("create %v: the folder was changed:\nbefore %s\nafter  %s", create, before, after)
		}
		_ = os.Chmod(path, 0o644) // Windows deletes no read-only file
	}
}
