package budgetcaller

// Limit names the bound that ended an attempt. The zero value is LimitNone:
// nothing of ours ended it.
type Limit uint8

// The limits. LimitKernel is the one that is not ours: the system itself gave
// up connecting (SYN retransmits exhausted, ETIMEDOUT, about 130 s by default
// on Linux).
const (
	LimitNone Limit = iota
	LimitConnect
	LimitRead
	LimitAttempt
	LimitPool
	LimitBudget
	LimitFloor
	LimitKernel
)

func limitNames() names {
	return names{"none", "connect", "read", "attempt", "pool", "budget", "floor", "kernel"}
}

// String returns the word used in tables, JSON and metrics.
func (l Limit) String() string { return limitNames().of("limit", uint8(l)) }

// MarshalText implements encoding.TextMarshaler with String's word.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (l *Limit) UnmarshalText(text []byte) error {
	v, err := limitNames().find("limit", string(text))
	*l = Limit(v)
	return err
}
