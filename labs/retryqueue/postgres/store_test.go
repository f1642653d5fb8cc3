package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chaoslab/internal/pgtest"
	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
	"chaoslab/labs/retryqueue/storetest"
)

var (
	shared  = &pgtest.Shared{}
	schemas atomic.Int64
)

func TestMain(m *testing.M) {
	code := m.Run()
	shared.Stop()
	os.Exit(code)
}

// newSchema is a name that no other test uses.
func newSchema() string { return fmt.Sprint("test_", schemas.Add(1)) }

func open(t *testing.T) retryqueue.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), shared.URL(t), postgres.Options{Create: true, Schema: newSchema()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}

func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			storetest.Model(t, open, 100+seed, 300)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	url := shared.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	foreign, newer := newSchema(), newSchema()
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+foreign); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), url, postgres.Options{Create: true, Schema: newer})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if _, err := conn.Exec(t.Context(), "COMMENT ON SCHEMA "+newer+" IS 'retryqueue schema 3'"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, url, schema string
		create            bool
		want              error
		text              string
	}{
		{"nothing there", url, "nothing", false, retryqueue.ErrNoStore, "nothing"},
		{"somebody else's", url, foreign, true, retryqueue.ErrNotOurs, foreign},
		{"a newer version", url, newer, true, retryqueue.ErrNewer, newer},
		{"read-only", url + "&default_transaction_read_only=on", newSchema(), true, retryqueue.ErrReadOnly, "schema"},
		{"no server", "postgres://me:secret@127.0.0.1:1/db", "x", false, nil, "127.0.0.1:1/db"},
		{"no address", "postgres://127.0.0.1:notaport/", "x", false, retryqueue.ErrAddress, "address"},
		{"a schema with a quote", url, `x"; DROP`, true, retryqueue.ErrAddress, "schema"},
	} {
		s, err := postgres.Open(t.Context(), c.url, postgres.Options{Create: c.create, Schema: c.schema})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: no error", c.name)
			continue
		}
		if c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want one line with %q and %v", c.name, err, c.text, c.want)
		}
	}
}

// Looking waits for nobody who makes or writes, makes nothing and writes nothing.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	ctx, url, schema := t.Context(), shared.URL(t), newSchema()
	look := func() (*postgres.Store, error) {
		return postgres.Open(ctx, url, postgres.Options{Schema: schema, ReadOnly: true, BusyWait: 5 * time.Second})
	}
	if s, err := look(); !errors.Is(err, retryqueue.ErrNoStore) {
		t.Errorf("nothing there: got %v, %v, want %v", s, err, retryqueue.ErrNoStore)
	}
	w, err := postgres.Open(ctx, url, postgres.Options{Create: true, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Add(ctx, 10, []retryqueue.NewJob{{ID: "a", Deadline: 1000, MaxAttempts: 1}}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('retryqueue "+schema+"'))"); err != nil {
		t.Fatal(err)
	}
	s, err := look()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if st, err := s.Stats(ctx, 20); st.Pending != 1 || err != nil {
		t.Errorf("Stats: got %+v, %v", st, err)
	}
	if j, err := s.Get(ctx, "a"); j.ID != "a" || err != nil {
		t.Errorf("Get: got %+v, %v", j, err)
	}
	_, add := s.Add(ctx, 20, []retryqueue.NewJob{{ID: "b", Deadline: 1000, MaxAttempts: 1}})
	_, take := s.Take(ctx, retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 30})
	_, renew := s.Renew(ctx, "a", 1, 30)
	_, redrive := s.Redrive(ctx, []retryqueue.Act{{ID: "a", At: 20, MoreAttempts: 1, Deadline: 1000}})
	_, purge := s.Purge(ctx, 100, nil)
	for what, err := range map[string]error{"Add": add, "Take": take, "Renew": renew, "Redrive": redrive, "Purge": purge} {
		if !errors.Is(err, retryqueue.ErrReadOnly) {
			t.Errorf("%s: got %v, want %v", what, err, retryqueue.ErrReadOnly)
		}
	}
}

// exec runs a statement on the server.
func exec(t *testing.T, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), shared.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// If the first transaction of a Take wrote something down and the second fails,
// what was written is told, and the worker is not made to believe that nothing is
// due: it asks again, and meets the error.
func TestAHalfTakeIsNotTakenForIdle(t *testing.T) {
	t.Parallel()
	ctx, schema := t.Context(), newSchema()
	s, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Create: true, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, j := range []retryqueue.NewJob{{ID: "a", Deadline: 1000, MaxAttempts: 1}, {ID: "late", Deadline: 25, MaxAttempts: 1}, {ID: "b", Deadline: 1000, MaxAttempts: 1}} {
		if _, err := s.Add(ctx, 10, []retryqueue.NewJob{j}); err != nil {
			t.Fatal(err)
		}
	}
	take := func(x retryqueue.Take) (retryqueue.Taken, error) {
		x.Now, x.Claim, x.LeaseUntil = x.Now+20, 1, 500
		return s.Take(ctx, x)
	}
	if taken, err := take(retryqueue.Take{}); err != nil || len(taken.Jobs) != 1 {
		t.Fatalf("got %+v, %v, want a", taken, err)
	}
	exec(t, `CREATE FUNCTION `+schema+`.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER no_end BEFORE UPDATE ON `+schema+`.jobs FOR EACH ROW WHEN (NEW.state = 3) EXECUTE FUNCTION `+schema+`.full()`)
	done := retryqueue.Settlement{ID: "a", Attempt: 1, State: retryqueue.Done, At: 30}
	if taken, err := take(retryqueue.Take{Now: 10, Settle: []retryqueue.Settlement{done}}); err != nil || len(taken.Lost) > 0 || len(taken.Jobs) > 0 || !taken.More {
		t.Errorf("settling: got %+v, %v, want it written down, and more to ask for", taken, err)
	}
	if taken, err := take(retryqueue.Take{Now: 10}); !errors.Is(err, retryqueue.ErrFull) {
		t.Errorf("claiming: got %+v, %v, want %v", taken, err, retryqueue.ErrFull)
	}
	exec(t, `DROP TRIGGER no_end ON `+schema+`.jobs`)
	if taken, err := take(retryqueue.Take{Now: 10}); err != nil || len(taken.Jobs) != 1 || taken.Jobs[0].ID != "b" || len(taken.Ended) != 1 {
		t.Errorf("with room again: got %+v, %v, want b", taken, err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}

// The order in which jobs are due holds also for one that comes before where the
// last claim found its own, however it came there.
func TestAJobThatComesBeforeTheHead(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, c := range []struct {
		name   string
		leased bool              // first
		now    retryqueue.Millis // when it must be next
		put    func(t *testing.T, s, other *postgres.Store)
	}{
		{"added by a clock that went back", false, 1001, func(t *testing.T, s, _ *postgres.Store) { add(t, s, 500, "early") }},
		{"renewed for less", true, 1001, func(t *testing.T, s, _ *postgres.Store) {
			if _, err := s.Renew(ctx, "early", 1, 800); err != nil {
				t.Error(err)
			}
		}},
		{"put back for the past", true, 1001, func(t *testing.T, s, _ *postgres.Store) {
			back := retryqueue.Settlement{ID: "early", Attempt: 1, State: retryqueue.Pending, Due: 800}
			if taken, err := s.Take(ctx, retryqueue.Take{Now: 1000, Settle: []retryqueue.Settlement{back}}); err != nil || len(taken.Lost) > 0 {
				t.Errorf("got %+v, %v", taken, err)
			}
		}},
		{"added elsewhere by a slower clock", false, 1250, func(t *testing.T, _, other *postgres.Store) { add(t, other, 500, "early") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			schema := newSchema()
			open := func() *postgres.Store {
				s, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Create: true, Schema: schema})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			}
			s, other := open(), open()
			take := func(now retryqueue.Millis, want string) {
				t.Helper()
				taken, err := s.Take(ctx, retryqueue.Take{Now: now, Claim: 1, LeaseUntil: 5000})
				if err != nil || len(taken.Jobs) != 1 || taken.Jobs[0].ID != want {
					t.Errorf("at %d: got %+v, %v, want %s", now, taken, err, want)
				}
			}
			if c.leased {
				add(t, s, 700, "early")
				take(700, "early")
			}
			for i, id := range []string{"a", "b", "c"} {
				add(t, s, retryqueue.Millis(900+i), id)
			}
			take(1000, "a")
			c.put(t, s, other)
			take(c.now, "early")
			take(c.now, "b")
		})
	}
}

func add(t *testing.T, s *postgres.Store, now retryqueue.Millis, id string) {
	t.Helper()
	if _, err := s.Add(t.Context(), now, []retryqueue.NewJob{{ID: id, Deadline: 10_000, MaxAttempts: 3}}); err != nil {
		t.Fatal(err)
	}
}
