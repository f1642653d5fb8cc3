package retryqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Store keeps jobs durably. Both implementations (sqlite, postgres) pass the
// suite in storetest. All methods are safe for concurrent use, by several
// processes too; each is one transaction unless it says otherwise, and what it
// returned without an error is durable.
type Store interface {
	// Add writes down the jobs whose ids are not known, all or none, and says of
	// each what became of it. The jobs have been checked.
	Add(ctx context.Context, now Millis, jobs []NewJob) ([]Added, error)
	// Take settles claims and makes new ones; what several goroutines ask for may be
	// one transaction. Once it has begun to claim, it goes on for a moment after ctx
	// ends, so that no claim is made unheard.
	Take(ctx context.Context, t Take) (Taken, error)
	// Renew moves the end of the lease of attempt to until, or to the job's
	// deadline if that is earlier, and returns it. ErrLeaseLost if the job is not
	// leased in that attempt. It returns soon after ctx ends.
	Renew(ctx context.Context, id string, attempt int, until Millis) (Millis, error)
	// Get returns the job, or ErrUnknownID. What can be no id is an error of
	// CheckID, here as in List and Acts.
	Get(ctx context.Context, id string) (Job, error)
	// List returns jobs in the order in which they were added, without payloads.
	List(ctx context.Context, f Filter) ([]Job, error)
	// Acts returns what persons did to the job, oldest first.
	Acts(ctx context.Context, id string) ([]Act, error)
	// Stats counts the jobs by state. Its cost does not grow with their number.
	Stats(ctx context.Context, now Millis) (Stats, error)
	// Redrive makes dead jobs pending again and records it. It says of each act, in
	// order, what became of its job: one that cannot be redriven leaves the others
	// alone. The acts have been checked.
	Redrive(ctx context.Context, acts []Act) ([]Redriven, error)
	// Purge drops the payloads of jobs that were final before the given time and
	// returns how many. It works in several short transactions and tells after each
	// how many jobs it looked at, if told is not nil.
	Purge(ctx context.Context, before Millis, told func(looked int)) (int, error)
	// Check returns an error if the store contradicts itself.
	Check(ctx context.Context) error
	Close() error
}

// Take is one transaction of a worker: it settles what is finished and takes
// what is due. Doing both at once halves what durability costs.
type Take struct {
	Now        Millis
	Settle     []Settlement
	Claim      int    // how many jobs to take at most; 0: none
	LeaseUntil Millis // capped by each job's deadline
}

// Taken is what a Take did.
type Taken struct {
	Lost  []int  // indexes into Settle of those that came too late
	Jobs  []Job  // claimed now, each with its own attempt spent
	Ended []Job  // found past their deadline or out of attempts: dead now
	More  bool   // nothing was claimed, but perhaps more is due: ask again
	Next  Millis // nothing was claimed: when the next job is due, zero if none is
}

// Filter chooses jobs for List. The zero value is the first DefaultLimit jobs.
type Filter struct {
	States  []State  // empty: all
	Reasons []Reason // empty: all
	After   string   // id of the last job of the page before
	Limit   int      // zero: DefaultLimit
}

// DefaultLimit is how many jobs List returns if it is not told.
const DefaultLimit = 100

// Act is what a person did to a job that had ended.
type Act struct {
	ID           string
	At           Millis
	By           string // who, as told
	MoreAttempts int    // added to its maximum
	Deadline     Millis // its new one
	OldDeadline  Millis // set by the store
	OldReason    Reason // set by the store
}

// Redriven is what became of one job that was to be redriven.
type Redriven struct {
	Job Job   // as it is now, without its payload; without meaning if Err is set
	Err error // ErrUnknownID, ErrNotDead or ErrPurged: it is as it was
}

// Refuses returns why j cannot be redriven, nil if it can.
func (j Job) Refuses() error {
	switch {
	case j.State != Dead:
		return fmt.Errorf("job %s: %w but %v", j.ID, ErrNotDead, j.State)
	case j.Purged:
		return fmt.Errorf("job %s: %w", j.ID, ErrPurged)
	}
	return nil
}

// Check returns an error that names the first field that is not right.
func (a Act) Check() error {
	if err := CheckID(a.ID); err != nil {
		return err
	}
	if err := errors.Join(checkMillis("now", a.At), checkMillis("deadline", a.Deadline)); err != nil {
		return fmt.Errorf("job %s: %w", a.ID, err)
	}
	switch {
	case a.MoreAttempts < 1 || a.MoreAttempts > MaxAttempts:
		return fmt.Errorf("job %s: attempts: %d is out of range: from 1 to %d", a.ID, a.MoreAttempts, MaxAttempts)
	case a.Deadline <= a.At:
		return fmt.Errorf("job %s: deadline: %d is not after now (%d): it is over already", a.ID, a.Deadline, a.At)
	}
	if err := CheckBy(a.By); err != nil {
		return fmt.Errorf("job %s: by: %w", a.ID, err)
	}
	return nil
}

// CheckBy returns an error that says what makes by no word for who did an act: it
// is text of at most MaxID bytes.
func CheckBy(by string) error {
	switch {
	case !utf8.ValidString(by) || strings.ContainsFunc(by, unicode.IsControl):
		return fmt.Errorf("%q holds what is no text", by)
	case len(by) > MaxID:
		return fmt.Errorf("%d bytes, at most %d", len(by), MaxID)
	}
	return nil
}

// Stats are the numbers of one moment. Fewer pending jobs do not mean more
// successes: each state is counted on its own.
type Stats struct {
	At            Millis
	Pending       int64 // jobs in backoff too
	Leased        int64
	Done          int64
	DeadDeadline  int64
	DeadExhausted int64
	DeadPermanent int64
	Attempts      int64  // all claims ever made
	LeasesLost    int64  // all leases that ever ran out and were noticed
	OldestAdded   Millis // when the oldest pending job was added; zero: none
	OldestDue     Millis // since when the longest overdue one waits; zero: none
}

// Dead returns all dead jobs.
func (s Stats) Dead() int64 { return s.DeadDeadline + s.DeadExhausted + s.DeadPermanent }

// Age returns how long ago the oldest pending job was added, zero if none is
// pending or the clock went back.
func (s Stats) Age() time.Duration { return s.since(s.OldestAdded) }

// Overdue returns for how long the longest overdue job has been due, zero if
// none is.
func (s Stats) Overdue() time.Duration { return s.since(s.OldestDue) }

func (s Stats) since(m Millis) time.Duration {
	if m == 0 {
		return 0
	}
	return max(0, s.At.Sub(m))
}
