package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/inbox"
)

// TestMain is also the receiver that is killed between effect and commit.
func TestMain(m *testing.M) {
	if path := os.Getenv("INBOX_TEST_DIE"); path != "" {
		fmt.Fprintln(os.Stderr, dieInTheEffect(path)) // it does not return
		os.Exit(1)
	}
	code := m.Run()
	shared.Stop()
	os.Exit(code)
}

const (
	hour  = retryqueue.Millis(3_600_000)
	start = 1000 * hour
)

// receiver is a database with an inbox and the effects in it.
type receiver struct {
	t   *testing.T
	db  *sql.DB
	box *inbox.Inbox
	cfg inbox.Config
}

func openSQLite(path string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
}

func newReceiver(t *testing.T, db *sql.DB, d inbox.Dialect) *receiver {
	t.Helper()
	cfg := inbox.Config{DB: db, Dialect: d, Keep: 2 * time.Hour, Horizon: time.Hour}
	box, err := inbox.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE IF NOT EXISTS effects (id TEXT)`); err != nil {
		t.Fatal(err)
	}
	return &receiver{t, db, box, cfg}
}

func sqliteReceiver(t *testing.T) *receiver {
	t.Helper()
	db, err := openSQLite(filepath.Join(t.TempDir(), "receiver.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return newReceiver(t, db, inbox.SQLite)
}

func effect(id string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO effects (id) VALUES ('`+id+`')`)
		return err
	}
}

func (r *receiver) do(now retryqueue.Millis, want bool) {
	r.t.Helper()
	duplicate, err := r.box.Do(r.t.Context(), now, "a", effect("a"))
	if err != nil || duplicate != want {
		r.t.Errorf("Do: got duplicate %v, %v, want %v", duplicate, err, want)
	}
}

func (r *receiver) effects(want int) {
	r.t.Helper()
	var n int
	if err := r.db.QueryRowContext(r.t.Context(), `SELECT count(*) FROM effects`).Scan(&n); err != nil || n != want {
		r.t.Errorf("effects: got %d, %v, want %d", n, err, want)
	}
}

// seenBefore holds the five parts of the case "Seen before, or not?" on one kind
// of database.
func seenBefore(t *testing.T, open func(*testing.T) *receiver) {
	t.Run("a: the same id 20 times at once", func(t *testing.T) {
		t.Parallel()
		r := open(t)
		var duplicates atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				duplicate, err := r.box.Do(t.Context(), start, "a", effect("a"))
				if err != nil {
					t.Errorf("a duplicate was an error: %v", err)
				}
				if duplicate {
					duplicates.Add(1)
				}
			})
		}
		wg.Wait()
		if n := duplicates.Load(); n != 19 {
			t.Errorf("%d duplicates, want 19", n)
		}
		r.effects(1)
	})
	t.Run("b: the first try fails", func(t *testing.T) {
		t.Parallel()
		r := open(t)
		boom := errors.New("boom")
		_, err := r.box.Do(t.Context(), start, "a", func(ctx context.Context, tx *sql.Tx) error {
			if err := effect("a")(ctx, tx); err != nil {
				return err
			}
			return boom
		})
		if err != boom {
			t.Errorf("the failing effect: got %v, want its error as it is", err)
		}
		r.effects(0)
		r.do(start, false)
		r.do(start, true)
		r.effects(1)
	})
	t.Run("d: a memory shorter than the longest job", func(t *testing.T) {
		t.Parallel()
		r := open(t)
		cfg := r.cfg
		cfg.Keep = cfg.Horizon - 1
		if _, err := inbox.New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "Keep") {
			t.Errorf("got %v, want it refused", err)
		}
		cfg.Keep = cfg.Horizon
		if _, err := inbox.New(t.Context(), cfg); err != nil {
			t.Errorf("a memory as long as the longest job: %v", err)
		}
	})
	t.Run("e: half the memory's time passes without the consumer", func(t *testing.T) {
		t.Parallel()
		r := open(t)
		r.do(start, false)
		box, err := inbox.New(t.Context(), r.cfg) // as after a restart
		if err != nil {
			t.Fatal(err)
		}
		r.box = box
		r.do(start+hour, true)
		for _, c := range []struct {
			now  retryqueue.Millis
			want int
		}{{start - 100*hour, 0}, {start + 2*hour, 0}, {start + 2*hour + 1, 1}} {
			if n, err := r.box.Forget(t.Context(), c.now); n != c.want || err != nil {
				t.Errorf("Forget %d ms later: got %d, %v, want %d", c.now-start, n, err, c.want)
			}
		}
		r.effects(1)
	})
}

func TestQ6SeenBeforeOrNot(t *testing.T) {
	t.Parallel()
	seenBefore(t, sqliteReceiver)
	t.Run("c: SIGKILL between effect and commit", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "receiver.db")
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "INBOX_TEST_DIE="+path)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("the receiver ended with %v, want it killed: %s", err, out)
		}
		db, err := openSQLite(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		r := newReceiver(t, db, inbox.SQLite)
		r.effects(0)
		r.do(start, false)
		r.do(start, true)
		r.effects(1)
	})
}

func dieInTheEffect(path string) error {
	ctx := context.Background()
	db, err := openSQLite(path)
	if err != nil {
		return err
	}
	box, err := inbox.New(ctx, inbox.Config{DB: db, Keep: time.Hour, Horizon: time.Hour})
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `CREATE TABLE effects (id TEXT)`); err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	_, err = box.Do(ctx, start, "a", func(ctx context.Context, tx *sql.Tx) error {
		if err := effect("a")(ctx, tx); err != nil {
			return err
		}
		if err := self.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		<-ctx.Done() // the signal is on its way
		return ctx.Err()
	})
	return err
}
