package budgetcaller

import (
	"net/netip"
	"net/url"
	"time"
)

// Record is the whole account of one attempt, complete also when it failed.
type Record struct {
	Method string
	// URL is the request's own; it must not be changed. Print URL.Redacted(),
	// as it may hold a password.
	URL *url.URL

	Class  Class
	Phase  Phase // where it ended; PhaseBody if it is ok
	Limit  Limit // which bound of ours ended it, LimitKernel if the system's did
	Effect Effect

	// Configured is the limit that fired as it was in force, 0 if none did:
	// for the budget, what was left of it when the attempt began.
	Configured time.Duration
	// Overshoot is how long after the limit's end the attempt was really over
	// (its connection gone); 0 if no limit of ours fired. It is never negative.
	Overshoot time.Duration

	Status     int    // status code of the head, 0 if none came
	Location   string // Location of a redirect (3xx), else empty
	RetryAfter string // Retry-After as sent, else empty
	Bytes      int64  // body bytes received
	Expected   int64  // body bytes announced, -1 if not known

	Start   time.Time     // when the attempt began, with a monotonic reading
	Elapsed time.Duration // until all it used was gone or given back
	Phases  PhaseTimes

	Reused bool           // the connection had been used before
	Nth    int            // number of this request on its connection, from 1; 0 if none was made
	Local  netip.AddrPort // our end of the connection, invalid if none was made
	Remote netip.AddrPort // the partner's end, invalid if none was made

	// Err is nil for ok, for status, and only for them.
	Err error
}

// PhaseTimes tells how long each phase took. The zero value has none reached.
type PhaseTimes struct {
	took    [phaseCount]time.Duration
	reached uint16
}

// Took returns how long phase p took, and false if it was never reached.
func (t PhaseTimes) Took(p Phase) (time.Duration, bool) {
	if p >= phaseCount || t.reached&(1<<p) == 0 {
		return 0, false
	}
	return t.took[p], true
}

// add notes that p was reached and took d more.
func (t *PhaseTimes) add(p Phase, d time.Duration) {
	t.reached |= 1 << p
	t.took[p] += d
}
