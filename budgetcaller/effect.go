package budgetcaller

// Effect says whether the partner may have carried out what was asked: the
// question that matters after a failure. The zero value is EffectNone.
type Effect uint8

// The effects, in order of how much they worry: a call's effect is the worst
// (greatest) of its attempts' effects.
const (
	EffectNone     Effect = iota // it cannot have happened
	EffectAnswered               // the partner said what happened
	EffectUnknown                // it may have happened
)

func effectNames() names { return names{"none", "answered", "unknown"} }

// String returns the word used in tables, JSON and metrics.
func (e Effect) String() string { return effectNames().of("effect", uint8(e)) }

// MarshalText implements encoding.TextMarshaler with String's word.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (e *Effect) UnmarshalText(text []byte) error {
	v, err := effectNames().find("effect", string(text))
	*e = Effect(v)
	return err
}
