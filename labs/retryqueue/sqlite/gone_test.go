package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/sqlite"
)

// slack is what a loaded machine may add.
const slack = 5 * time.Second

// A file that is deleted, replaced or emptied of its tables ends the workers with
// one line, and what took its place is left alone.
func TestWorkEndsIfTheFileIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is open")
	}
	for _, c := range []struct {
		name string
		harm func(t *testing.T, path string)
		want error
	}{
		{"deleted", remove, retryqueue.ErrGone},
		{"deleted with what is beside it", func(t *testing.T, path string) {
			for _, p := range []string{path, path + "-wal", path + "-shm"} {
				_ = os.Remove(p)
			}
		}, retryqueue.ErrGone},
		{"replaced", func(t *testing.T, path string) {
			for _, p := range []string{path, path + "-wal", path + "-shm"} {
				_ = os.Remove(p)
			}
			made(t, path)
		}, retryqueue.ErrGone},
		{"its table dropped", func(t *testing.T, path string) { execs(t, path, "DROP TABLE jobs") }, retryqueue.ErrDamaged},
	} {
		for _, untilIdle := range []bool{true, false} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "queue.db")
				made(t, path)
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				now := retryqueue.MillisOf(time.Now())
				job := retryqueue.NewJob{ID: "a", Deadline: now + 600_000, MaxAttempts: 1000}
				q, err := retryqueue.New(retryqueue.Config{
					Store: s, Backoff: retryqueue.Backoff{Base: time.Millisecond, Cap: time.Millisecond},
					Send: func(context.Context, retryqueue.Job) error {
						c.harm(t, path)
						time.Sleep(150 * time.Millisecond)
						return retryqueue.Retry(errors.New("again"), 0)
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := q.Add(t.Context(), job); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				err = q.Work(t.Context(), retryqueue.WorkConfig{Workers: 2, UntilIdle: untilIdle, Poll: 50 * time.Millisecond})
				if !errors.Is(err, c.want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) || time.Since(begun) > slack {
					t.Errorf("Work: got %v after %v, want one line with the path and %v", err, time.Since(begun), c.want)
				}
				if _, err := s.Add(t.Context(), now, []retryqueue.NewJob{job}); !errors.Is(err, c.want) {
					t.Errorf("Add: got %v, want %v", err, c.want)
				}
				if _, err := s.Stats(t.Context(), now); c.want == retryqueue.ErrGone && !errors.Is(err, c.want) {
					t.Errorf("Stats: got %v, want %v", err, c.want)
				}
				if c.name != "replaced" {
					_ = s.Close()
					return
				}
				// The store in its place has a log of its own by now.
				other, err := sqlite.Open(t.Context(), path, sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				added, err := other.Add(t.Context(), now, []retryqueue.NewJob{job})
				if err != nil || !added[0].New {
					t.Errorf("Add to the other: got %+v, %v", added, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(path + "-wal"); err != nil {
					t.Errorf("closing the first deleted the log of the other: %v", err)
				}
				if j, err := other.Get(t.Context(), "a"); err != nil || other.Check(t.Context()) != nil {
					t.Errorf("the other: got %+v, %v", j, err)
				}
			})
		}
	}
}

// Adding notices at once that the file is gone: nothing is said to be in that is
// not.
func TestAddNoticesAtOnceThatTheFileIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is open")
	}
	path := filepath.Join(t.TempDir(), "queue.db")
	made(t, path)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add := func() error {
		_, err := s.Add(t.Context(), 20, []retryqueue.NewJob{{ID: "a", Deadline: 1000, MaxAttempts: 1}})
		return err
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	remove(t, path)
	if err := add(); !errors.Is(err, retryqueue.ErrGone) {
		t.Errorf("got %v, want %v", err, retryqueue.ErrGone)
	}
}

// What ends right after the file went says so, however soon that is.
func TestTheLastLookFindsThatTheFileIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is open")
	}
	take := func(s *sqlite.Store, x retryqueue.Take) error {
		_, err := s.Take(t.Context(), x)
		return err
	}
	for _, c := range []struct {
		name string
		last func(*sqlite.Store) error
	}{
		{"nothing is due", func(s *sqlite.Store) error { return take(s, retryqueue.Take{Now: 30, Claim: 1, LeaseUntil: 40}) }},
		{"the last outcome", func(s *sqlite.Store) error {
			return take(s, retryqueue.Take{Now: 30, Settle: []retryqueue.Settlement{{ID: "first", Attempt: 1, State: retryqueue.Done, At: 30}}})
		}},
		{"closing", func(*sqlite.Store) error { return nil }},
	} {
		path := filepath.Join(t.TempDir(), "queue.db")
		made(t, path)
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := take(s, retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 1000}); err != nil {
			t.Errorf("%s: the first claim: %v", c.name, err)
		}
		remove(t, path)
		lastErr := c.last(s)
		closeErr := s.Close()
		if err := errors.Join(lastErr, closeErr); !errors.Is(err, retryqueue.ErrGone) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v and then %v, want %v once", c.name, lastErr, closeErr, retryqueue.ErrGone)
		}
	}
}
