package budgetcaller

// Class says how an attempt ended; every attempt gets exactly one. The zero
// value is ClassNone, which no finished attempt carries.
type Class uint8

// The classes. See Classes for what each means and what to do about it.
const (
	ClassNone Class = iota
	ClassOK
	ClassStatus
	ClassRefused
	ClassUnreachable
	ClassLookupFailed
	ClassConnectTimeout
	ClassTLSTimeout
	ClassTLSFailed
	ClassPoolTimeout
	ClassRequestTimeout
	ClassReadTimeout
	ClassAttemptTimeout
	ClassClosed
	ClassReset
	ClassTruncated
	ClassMalformed
	ClassBudgetExhausted
	ClassBelowFloor
	ClassBreakerOpen
	ClassCanceled

	classCount
)

func classNames() names {
	return names{
		"none", "ok", "status", "refused", "unreachable", "lookup_failed", "connect_timeout",
		"tls_timeout", "tls_failed", "pool_timeout", "request_timeout", "read_timeout",
		"attempt_timeout", "closed", "reset", "truncated", "malformed", "budget_exhausted",
		"below_floor", "breaker_open", "canceled",
	}
}

// String returns the word used in tables, JSON and metrics.
func (c Class) String() string { return classNames().of("class", uint8(c)) }

// MarshalText implements encoding.TextMarshaler with String's word.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (c *Class) UnmarshalText(text []byte) error {
	v, err := classNames().find("class", string(text))
	*c = Class(v)
	return err
}

// ParseClass returns the class of that name, or an error that lists all names.
func ParseClass(word string) (Class, error) {
	var c Class
	err := c.UnmarshalText([]byte(word))
	return c, err
}

// effect is the effect of an attempt that ended as c. sent says whether a byte
// of the request had been handed to the connection; status is the answer's
// code, 0 if no head came.
func (c Class) effect(sent bool, status int) Effect {
	switch c {
	case ClassOK:
		return EffectAnswered
	case ClassStatus:
		// A gateway that answers 502 or 504 lost sight of the server behind it.
		if status == 502 || status == 504 {
			return EffectUnknown
		}
		return EffectAnswered
	case ClassRequestTimeout, ClassReadTimeout, ClassClosed, ClassTruncated, ClassMalformed,
		ClassReset, ClassAttemptTimeout, ClassBudgetExhausted, ClassCanceled:
		if sent {
			return EffectUnknown
		}
	}
	return EffectNone
}
