package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Choice is a flag value that takes one word of a fixed list.
type Choice struct {
	Value string   // the word chosen; before that, the default
	Of    []string // the words it takes
}

// Format returns the value of a --format flag that takes formats, the first of
// which is the default.
func Format(formats ...string) Choice { return Choice{Value: formats[0], Of: formats} }

// Set implements pflag.Value.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Of, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(c.Of, ", "))
	}
	c.Value = s
	return nil
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value: it is what --help shows behind the flag.
func (c *Choice) Type() string { return strings.Join(c.Of, "|") }

// Nearest returns the word of words that is most like s, or "" if none is like
// it: the word meant by a slip of the fingers, for "did you mean". words are lower
// case; s may be of any.
func Nearest(s string, words []string) string {
	if s == "" {
		return ""
	}
	s = strings.ToLower(s)
	best, least := "", max(2, len(s)/3)+1
	for _, w := range words {
		d := distance(s, w)
		if strings.HasPrefix(w, s) {
			d = min(d, 1)
		}
		if d < least && d < len(w) { // a word that is wholly another is not meant
			best, least = w, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes: how many must be changed,
// added or dropped to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
