package budgetcaller

// Phase says how far an attempt had come. Phases are ordered: a later one
// compares greater. The zero value is PhaseNone, for what was never started.
type Phase uint8

// The phases in the order in which an attempt passes them.
const (
	PhaseNone      Phase = iota // not started
	PhasePool                   // waiting for a free connection
	PhaseLookup                 // resolving the name
	PhaseConnect                // TCP handshake, all addresses together
	PhaseTLS                    // TLS handshake
	PhaseRequest                // sending the request
	PhaseFirstByte              // request sent, nothing heard yet
	PhaseHead                   // some of the answer's head heard
	PhaseBody                   // head whole, reading the body
	PhaseBackoff                // waiting between two attempts

	phaseCount
)

func phaseNames() names {
	return names{"none", "pool", "lookup", "connect", "tls", "request", "first_byte", "head", "body", "backoff"}
}

// Phases returns all phases but PhaseNone, in order.
func Phases() []Phase {
	all := make([]Phase, 0, phaseCount-1)
	for p := PhasePool; p < phaseCount; p++ {
		all = append(all, p)
	}
	return all
}

// String returns the word used in tables, JSON and metrics.
func (p Phase) String() string { return phaseNames().of("phase", uint8(p)) }

// MarshalText implements encoding.TextMarshaler with String's word.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (p *Phase) UnmarshalText(text []byte) error {
	v, err := phaseNames().find("phase", string(text))
	*p = Phase(v)
	return err
}
