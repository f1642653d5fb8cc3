package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chaoslab/labs/retryqueue"
	"chaoslab/labs/retryqueue/postgres"
)

// Who holds a lock for ever does not hold us for ever, and nothing is lost. A disk
// that is full leaves nothing half-written.
func TestLockedByAnotherAndFull(t *testing.T) {
	t.Parallel()
	const wait = 200 * time.Millisecond
	ctx, schema := t.Context(), newSchema()
	s, err := postgres.Open(ctx, shared.URL(t), postgres.Options{Create: true, Schema: schema, BusyWait: wait})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	job := func(id string) retryqueue.NewJob {
		return retryqueue.NewJob{ID: id, Deadline: 1000, MaxAttempts: 1}
	}
	if _, err := s.Add(ctx, 10, []retryqueue.NewJob{job("first")}); err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(ctx, shared.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	tx, err := other.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE "+schema+".jobs IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	more := []retryqueue.NewJob{job("second"), job("third")}
	steps := map[string]func() error{
		"Add": func() error { _, err := s.Add(ctx, 20, more); return err },
		"Take": func() error {
			_, err := s.Take(ctx, retryqueue.Take{Now: 20, Claim: 1, LeaseUntil: 30})
			return err
		},
	}
	for name, step := range steps {
		err := within(t, name, wait, 10*wait, step)
		if !errors.Is(err, retryqueue.ErrBusy) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s while locked: got %v, want one line with %v", name, err, retryqueue.ErrBusy)
		}
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	exec(t, `CREATE FUNCTION `+schema+`.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER no_room BEFORE INSERT ON `+schema+`.jobs FOR EACH ROW WHEN (NEW.id = 'third') EXECUTE FUNCTION `+schema+`.full()`)
	if err := steps["Add"](); !errors.Is(err, retryqueue.ErrFull) {
		t.Errorf("Add on a full disk: got %v, want %v", err, retryqueue.ErrFull)
	}
	if st, err := s.Stats(ctx, 20); st.Pending != 1 || st.Attempts != 0 || err != nil {
		t.Errorf("after it: got %+v, %v, want the first job alone, untouched", st, err)
	}
	exec(t, `DROP TRIGGER no_room ON `+schema+`.jobs`)
	for name, step := range steps {
		if err := step(); err != nil {
			t.Errorf("%s when all is well: %v", name, err)
		}
	}
	if st, err := s.Stats(ctx, 20); st.Pending != 2 || st.Leased != 1 || err != nil {
		t.Errorf("in the end: got %+v, %v, want one claimed of three", st, err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}
