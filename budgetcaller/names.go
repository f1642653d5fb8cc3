package budgetcaller

import (
	"fmt"
	"strings"
)

// names holds the words of one enumeration, indexed by its value; the zero
// value's word is always "none".
type names []string

func (n names) of(kind string, i uint8) string {
	if int(i) < len(n) {
		return n[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

func (n names) find(kind, word string) (uint8, error) {
	for i, name := range n {
		if name == word {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q: one of %s", kind, word, strings.Join(n[1:], ", "))
}
