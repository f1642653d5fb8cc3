package budgetcaller

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// NoLimit, as the value of a limit or of Begin's budget, means that there is
// none. It is never a default: whoever wants to wait for ever says so.
const NoLimit time.Duration = math.MaxInt64

// MaxLimit is the greatest limit or budget that is accepted: a year. What is
// longer is a mistake in the unit or an overflow.
const MaxLimit = 366 * 24 * time.Hour

// The limits in force where none is set.
const (
	DefaultConnect = time.Second
	DefaultFloor   = time.Millisecond
)

// Limits bound one attempt. Attempt and Pool start when the attempt does,
// Connect with the lookup, and Read afresh with every byte heard. The zero value of each field is its
// default; NoLimit switches it off. A limit that is not shorter than what is
// left of the budget does not fire: the budget does.
type Limits struct {
	// Connect bounds lookup, TCP and TLS together, over all of a name's
	// addresses, the system's SYN retransmits included. Zero: DefaultConnect.
	Connect time.Duration
	// Read bounds the partner's silence: while it takes none of our bytes,
	// until its first byte, and between any two of its bytes. Zero: NoLimit,
	// so that the budget bounds it.
	Read time.Duration
	// Attempt bounds one whole attempt, from asking for a connection to the
	// last byte of the body. Zero: NoLimit, so that the budget bounds it.
	Attempt time.Duration
	// Pool bounds the wait for a free connection. Zero: NoLimit, so that the
	// budget bounds it.
	Pool time.Duration
	// Floor is the least time left of the budget with which an attempt is
	// started; with less it is below_floor. Zero: DefaultFloor. NoLimit is
	// refused.
	Floor time.Duration
}

// withDefaults returns l with its zero fields filled in, or an error that
// names the first field out of range.
func (l Limits) withDefaults() (Limits, error) {
	for _, f := range []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{
		{"Connect", &l.Connect, DefaultConnect},
		{"Read", &l.Read, NoLimit},
		{"Attempt", &l.Attempt, NoLimit},
		{"Pool", &l.Pool, NoLimit},
		{"Floor", &l.Floor, DefaultFloor},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if err := checkLimit(*f.value); err != nil {
			return l, fmt.Errorf("limits: %s: %w", f.name, err)
		}
	}
	if l.Floor == NoLimit {
		return l, errors.New("limits: Floor: NoLimit would let nothing be called")
	}
	return l, nil
}

func checkLimit(d time.Duration) error {
	if d != NoLimit && (d <= 0 || d > MaxLimit) {
		return fmt.Errorf("%v is out of range: above 0 and at most %v, or NoLimit", d, MaxLimit)
	}
	return nil
}
