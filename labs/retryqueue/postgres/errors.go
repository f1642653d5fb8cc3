package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"chaoslab/labs/retryqueue"
)

// code is PostgreSQL's SQLSTATE, empty if err is not the server's.
func code(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func message(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// storeError is an error with the store that it is about.
type storeError struct {
	name string
	err  error
}

func (e *storeError) Error() string {
	// The driver reports one line a server address.
	return fmt.Sprintf("store %s: %s", e.name, strings.Join(strings.Fields(e.err.Error()), " "))
}

func (e *storeError) Unwrap() error { return e.err }

// explain says what the server's code means for who uses the store.
func (s *Store) explain(err error) error {
	if err == nil || retryqueue.AboutJob(err) {
		return err
	}
	if e := (*storeError)(nil); errors.As(err, &e) {
		return err
	}
	switch code(err) {
	case "55P03":
		err = fmt.Errorf("%w (waited %v)", retryqueue.ErrBusy, s.busyWait)
	case "25006", "42501":
		err = fmt.Errorf("%w (%s)", retryqueue.ErrReadOnly, message(err))
	case "53100":
		err = retryqueue.ErrFull
	case "42P01", "42703", "42883", "3F000": // no such table, column, function, schema
		err = fmt.Errorf("%w: %s", retryqueue.ErrDamaged, message(err))
	case "3D000":
		err = fmt.Errorf("%w: %s", retryqueue.ErrNoStore, message(err))
	}
	return &storeError{s.name, err}
}
