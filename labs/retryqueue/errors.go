package retryqueue

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// What callers branch on.
var (
	// ErrLeaseLost says that a write came too late: the job was taken over or
	// ended by somebody else, and nothing was changed.
	ErrLeaseLost = errors.New("the lease was lost: nothing was changed")
	// ErrClockBackwards says that the clock went back within one call.
	ErrClockBackwards = errors.New("the clock went backwards")
	// ErrUnknownID says that no job has this id.
	ErrUnknownID = errors.New("no such job")
	// ErrNotDead says that only a dead job can be redriven.
	ErrNotDead = errors.New("the job is not dead")
	// ErrPurged says that the job's payload was dropped.
	ErrPurged = errors.New("the payload was purged")

	// ErrAddress says that what was given names no place where a store can be.
	ErrAddress = errors.New("no address of a store")
	// ErrNoStore says that there is nothing where the store should be.
	ErrNoStore = errors.New("there is no store")
	// ErrNotOurs says that what is there is not a store of this package.
	ErrNotOurs = errors.New("not a queue store")
	// ErrNewer says that a newer version of this package made the store.
	ErrNewer = errors.New("the store was made by a newer version")
	// ErrReadOnly says that the store cannot be written to.
	ErrReadOnly = errors.New("the store is read-only")
	// ErrFull says that the disk is full; nothing was written.
	ErrFull = errors.New("the disk is full: nothing was written")
	// ErrBusy says that others held the store's lock for too long; nothing was
	// written.
	ErrBusy = errors.New("the store is locked by another: nothing was written")
	// ErrGone says that the store was deleted or replaced while it was open.
	ErrGone = errors.New("the store is gone: it was deleted or replaced while it was open")
	// ErrDamaged says that the store is not what it was: tables are missing or
	// the file is corrupt.
	ErrDamaged = errors.New("the store is damaged")
	// ErrNoAnswer says that the store did not answer in time; what it was asked
	// may have been done.
	ErrNoAnswer = errors.New("the store does not answer")
)

// Hopeless says whether err is one of the store that trying again cannot mend.
func Hopeless(err error) bool {
	for _, e := range []error{ErrNoStore, ErrNotOurs, ErrNewer, ErrReadOnly, ErrGone, ErrDamaged} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// AboutJob says whether err is about a job and not about the store.
func AboutJob(err error) bool {
	for _, e := range []error{ErrLeaseLost, ErrUnknownID, ErrNotDead, ErrPurged} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// RetryError is an error after which the job is tried again. Send returns it,
// perhaps wrapped.
type RetryError struct {
	Err   error
	After time.Duration // wait at least so long; zero: the backoff alone decides
}

// Error implements error.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap returns what was wrapped.
func (e *RetryError) Unwrap() error { return e.Err }

// PermanentError is an error that no further attempt can mend. Send returns it,
// perhaps wrapped.
type PermanentError struct{ Err error }

// Error implements error.
func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap returns what was wrapped.
func (e *PermanentError) Unwrap() error { return e.Err }

// Retry marks err as worth another attempt, not before after has passed. Nil
// stays nil.
func Retry(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &RetryError{err, after}
}

// Permanent marks err as one that no further attempt can mend. Nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &PermanentError{err}
}

type verdict uint8

const (
	unclassified verdict = iota
	succeeded
	retryable
	permanent
)

// judge says what err, as Send returned it, asks for.
func judge(err error) (verdict, time.Duration) {
	if err == nil {
		return succeeded, 0
	}
	if p := (*PermanentError)(nil); errors.As(err, &p) {
		return permanent, 0
	}
	if r := (*RetryError)(nil); errors.As(err, &r) {
		return retryable, max(0, r.After)
	}
	return unclassified, 0
}

// cut returns text short enough to be kept, as valid UTF-8 without NUL, which
// PostgreSQL refuses.
func cut(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if len(text) <= maxError {
		return text
	}
	text = text[:maxError]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
