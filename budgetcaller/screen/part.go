package screen

import (
	"context"
	"time"

	"chaoslab/budgetcaller"
)

// Number is a length of time and the reason why it is what it is: where it
// comes from, when it was measured, over how many calls. A number without its
// reason works, but Check asks for it: nobody dares to change it later.
type Number struct {
	D      time.Duration
	Reason string
}

// For returns d with its reason.
func For(d time.Duration, reason string) Number { return Number{d, reason} }

// Func makes a part's value. It must end soon after ctx does and may panic:
// that is a failure of its part. Where it returns a *budgetcaller.Answer, as
// those of Through do, its attempts are in the account, a status of 400 or
// above is a failure, and Part.Read makes the value.
type Func func(ctx context.Context) (any, error)

// Part is one call of a screen. The zero value of each field but Name and Call
// is the default named beside it.
type Part struct {
	// Name is the part's key in the answer. It must be unique in its screen and
	// none of degraded, fallback and stale_ms.
	Name string
	// Optional says that the screen is worth having without this part. The
	// default is that it is not: if the part fails, the screen does.
	Optional bool

	// Call makes the call.
	Call Func
	// Read makes the part's value of an answer, if Call returns one. Its error
	// is a failure of class malformed. Nil: Body.
	Read func(*budgetcaller.Answer) (any, error)

	// Limit is the most that the part may take, with all its attempts and
	// waits. Zero: what is left of the budget.
	Limit Number
	// Expected is how long the part usually takes. Zero: Dependency's.
	Expected Number
	// Floor is the least time left with which the part is called. Zero:
	// Expected, or Dependency's floor, or budgetcaller.DefaultFloor.
	Floor Number
	// Dependency is what Call is made with, where it goes through a Caller. It
	// changes nothing about the call; the account shows its attempt limit, and
	// Check reckons with its attempts and waits. Nil: not known.
	Dependency *budgetcaller.Dependency

	// Availability is the share of calls that are answered, above 0 and at most
	// 1, for what Check says of screens that need all their parts. Zero: 0.999.
	Availability float64

	// Fallback stands in for a call that failed or was not made. The zero value
	// is none.
	Fallback Fallback
}

// Fallback makes a value where the call gave none. It runs inside the budget,
// and never after a cancel: then there is nobody to answer. A required part
// whose fallback has a value has not failed. Only one of Func and Old may be
// set.
type Fallback struct {
	// Func makes another value. What is left of the budget bounds it.
	Func Func
	// SetAside is the time kept from the part's call for Func. Without it a call
	// that hangs until the budget ends leaves Func nothing. Zero: nothing.
	SetAside Number

	// Old returns a value that was kept from an earlier time and when it was
	// got, or false if there is none. It must not wait for anything.
	Old func() (value any, got time.Time, ok bool)
	// MaxAge is how old it may be. Zero: any age.
	MaxAge Number
}

// none reports whether there is no fallback.
func (f *Fallback) none() bool { return f.Func == nil && f.Old == nil }
