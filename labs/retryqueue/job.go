package retryqueue

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of what is handed in.
const (
	MaxID       = 200     // bytes of an id
	MaxPayload  = 1 << 20 // bytes of a payload
	MaxAttempts = 1_000_000
	maxError    = 500 // bytes kept of the last error
)

// NewJob is a job as it is handed in.
type NewJob struct {
	// ID names the job for ever: 1 to MaxID bytes of visible ASCII, since it
	// travels in a header.
	ID      string
	Payload []byte // what Send gets; at most MaxPayload
	// Deadline is when it is over; after now and later than AvailableAt.
	Deadline    Millis
	MaxAttempts int    // from 1 to MaxAttempts
	AvailableAt Millis // not before; zero: now
}

// Check returns an error that names the first field that is not right at now.
func (j NewJob) Check(now Millis) error {
	if err := CheckID(j.ID); err != nil {
		return err
	}
	if err := errors.Join(checkMillis("now", now), checkMillis("deadline", j.Deadline)); err != nil {
		return fmt.Errorf("job %s: %w", j.ID, err)
	}
	switch {
	case len(j.Payload) > MaxPayload:
		return fmt.Errorf("job %s: payload: %d bytes, at most %d", j.ID, len(j.Payload), MaxPayload)
	case j.MaxAttempts < 1 || j.MaxAttempts > MaxAttempts:
		return fmt.Errorf("job %s: max_attempts: %d is out of range: from 1 to %d", j.ID, j.MaxAttempts, MaxAttempts)
	case j.AvailableAt < 0 || j.AvailableAt > MaxMillis:
		return fmt.Errorf("job %s: available_at: %d is no point in time: from 0 (now) to %d", j.ID, j.AvailableAt, MaxMillis)
	case j.Deadline <= now:
		return fmt.Errorf("job %s: deadline: %d is not after now (%d): it is over already", j.ID, j.Deadline, now)
	case j.AvailableAt >= j.Deadline:
		return fmt.Errorf("job %s: available_at: %d is not before the deadline (%d): it could never be sent", j.ID, j.AvailableAt, j.Deadline)
	}
	return nil
}

// CheckID returns an error that says what makes id none: see NewJob.
func CheckID(id string) error {
	if id == "" {
		return errors.New("id: empty")
	}
	if len(id) > MaxID {
		return fmt.Errorf("id: %d bytes, at most %d", len(id), MaxID)
	}
	for _, c := range id {
		if c <= ' ' || c > '~' {
			return fmt.Errorf("id: %q holds %q: visible ASCII only", id, c)
		}
	}
	return nil
}

// Job is a job as the store has it.
type Job struct {
	ID          string
	Payload     []byte
	State       State
	Reason      Reason // why it is dead
	Attempts    int    // claims so far; also the number of the current one
	MaxAttempts int
	AvailableAt Millis // pending: not before; else zero
	LeaseUntil  Millis // leased: the end of the lease; else zero
	Deadline    Millis
	EnqueuedAt  Millis
	FinishedAt  Millis // final: since when; else zero
	LeasesLost  int    // leases that ran out
	LastError   string
	Purged      bool // its payload was dropped
}

// Added says what became of one job handed in.
type Added struct {
	ID    string
	New   bool  // false: the id was known, and nothing was changed
	State State // of the job in the store
	// Differs is set if the id was known with another payload: what was handed
	// in now is not in the store.
	Differs bool
	// DiffersIn names what was handed in now and is not what the known job has:
	// of "payload", "deadline" and "max_attempts", joined with ", ". Empty: nothing.
	// A purged payload is not compared.
	DiffersIn string
}

// Compare sets Differs and DiffersIn: samePayload says whether the payload is the
// same, and has is the known job, of which its deadline and its maximum count.
func (a *Added) Compare(handed NewJob, has Job, samePayload bool) {
	var in []string
	a.Differs = !samePayload
	for _, d := range []struct {
		name    string
		differs bool
	}{{"payload", !samePayload}, {"deadline", handed.Deadline != has.Deadline}, {"max_attempts", handed.MaxAttempts != has.MaxAttempts}} {
		if d.differs {
			in = append(in, d.name)
		}
	}
	a.DiffersIn = strings.Join(in, ", ")
}

// Settlement is what became of one claim, to be written down. It counts only
// while the job is leased in that same attempt.
type Settlement struct {
	ID      string
	Attempt int
	State   State  // Pending, Done or Dead; Leased changes nothing but the error
	Reason  Reason // if Dead
	Due     Millis // if Pending: not before
	At      Millis // if final: since when
	Error   string
}

// settle says what becomes of job, which a worker tried with the outcome err, at
// now. delay is the wait before the next attempt in milliseconds.
func settle(job Job, v verdict, now Millis, delay int64, text string) Settlement {
	s := Settlement{ID: job.ID, Attempt: job.Attempts, Error: cut(text)}
	dead := func(r Reason) Settlement {
		s.State, s.Reason, s.At = Dead, r, now
		return s
	}
	switch {
	case v == succeeded:
		s.State, s.At = Done, now
		return s
	case v == permanent:
		return dead(ReasonPermanent)
	case job.Attempts >= job.MaxAttempts: // before the deadline is asked
		return dead(ReasonExhausted)
	case now.plus(delay) >= job.Deadline:
		return dead(ReasonDeadline)
	}
	s.State, s.Due = Pending, now.plus(delay)
	return s
}

// apply returns job as it is after s.
func (s Settlement) apply(job Job) Job {
	if s.State == Leased {
		job.LastError = s.Error
		return job
	}
	job.State, job.Reason, job.LastError = s.State, s.Reason, s.Error
	job.LeaseUntil, job.AvailableAt, job.FinishedAt = 0, 0, 0
	if s.State == Pending {
		job.AvailableAt = s.Due
	} else {
		job.FinishedAt = s.At
	}
	return job
}
