package deadlinechain

import (
	"fmt"
	"strings"
)

// Policy says what a hop does about deadlines. The zero value is None.
type Policy uint8

// The policies.
const (
	None Policy = iota // no deadline at all
	Each               // every hop starts its own Budget when it is called
	Pass               // the entry's deadline is handed down as a point in time
)

// Policies returns all policies, in the order in which tables show them.
func Policies() []Policy { return []Policy{None, Each, Pass} }

// String returns the policy's word: none, each or pass.
func (p Policy) String() string {
	switch p {
	case None:
		return "none"
	case Each:
		return "each"
	case Pass:
		return "pass"
	}
	return fmt.Sprintf("policy(%d)", uint8(p))
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (p *Policy) UnmarshalText(text []byte) error {
	var words []string
	for _, q := range Policies() {
		if q.String() == string(text) {
			*p = q
			return nil
		}
		words = append(words, q.String())
	}
	return fmt.Errorf("policy %q is none of %s", text, strings.Join(words, ", "))
}
