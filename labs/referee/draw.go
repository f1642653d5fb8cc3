package referee

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
)

// values are what was drawn for one run of a scenario, by name.
type values map[string]string

// draw draws each entry of lists in turn. An entry is NAME=FROM..TO, a whole
// number; NAME=a|b|c, one of the words; or NAME=VALUE, in which $OTHER stands for
// one drawn before, and sums, differences and products are worked out.
func (v values) draw(r *rand.Rand, lists ...[]string) error {
	for _, list := range lists {
		for _, entry := range list {
			name, what, ok := strings.Cut(entry, "=")
			if !ok || name == "" {
				return fmt.Errorf("draw %q: write NAME=FROM..TO, NAME=a|b or NAME=VALUE", entry)
			}
			value, err := v.one(r, what)
			if err != nil {
				return fmt.Errorf("draw %q: %w", entry, err)
			}
			v[name] = value
		}
	}
	return nil
}

func (v values) one(r *rand.Rand, what string) (string, error) {
	if words := strings.Split(what, "|"); len(words) > 1 {
		return words[r.IntN(len(words))], nil
	}
	if low, high, ok := strings.Cut(what, ".."); ok {
		from, err := v.number(low)
		if err != nil {
			return "", err
		}
		to, err := v.number(high)
		if err != nil {
			return "", err
		}
		if to < from {
			return "", fmt.Errorf("%v is above %v", from, to)
		}
		return strconv.Itoa(int(from) + r.IntN(int(to-from)+1)), nil
	}
	return v.text(what)
}

// text puts what was drawn in the place of $NAME, and works a sum out if what
// comes of it is one.
func (v values) text(s string) (string, error) {
	var missing string
	s = os.Expand(s, func(name string) string {
		value, ok := v[name]
		if !ok {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("$%s was never drawn", missing)
	}
	if n, ok := sum(s); ok && strings.ContainsAny(s[1:], "+-*") {
		s = strconv.FormatFloat(n, 'f', -1, 64)
	}
	return s, nil
}

// number is text, as a number.
func (v values) number(s string) (float64, error) {
	s, err := v.text(s)
	if err != nil {
		return 0, err
	}
	n, ok := sum(s)
	if !ok {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return n, nil
}

// sum works out a text such as 3*120+20-5.
func sum(s string) (float64, bool) {
	for i := len(s) - 1; i > 0; i-- {
		if s[i] != '+' && s[i] != '-' {
			continue
		}
		left, ok := sum(s[:i])
		right, ok2 := product(s[i+1:])
		if s[i] == '-' {
			right = -right
		}
		return left + right, ok && ok2
	}
	return product(s)
}

func product(s string) (float64, bool) {
	n := 1.0
	for factor := range strings.SplitSeq(s, "*") {
		f, err := strconv.ParseFloat(strings.TrimSpace(factor), 64)
		if err != nil {
			return 0, false
		}
		n *= f
	}
	return n, true
}

// chance returns the generator of one scenario: a function of the seed and of its
// name, so that a scenario run alone is the same as one among others.
func chance(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
