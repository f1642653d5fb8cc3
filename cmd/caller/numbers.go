package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// numbers is a flag value that takes a whole number or, with list, several with
// commas between them.
type numbers struct {
	values      []int64 // before Set, the default; may be none
	least, most int64   // of each
	list        bool
}

// maxNumbers is how many a list may have.
const maxNumbers = 1000

// first returns the first value, 0 if there is none.
func (n *numbers) first() int64 {
	if len(n.values) == 0 {
		return 0
	}
	return n.values[0]
}

// Set implements pflag.Value.
func (n *numbers) Set(s string) error {
	words := strings.Split(s, ",")
	switch {
	case len(words) > 1 && !n.list:
		return errors.New("takes one number, not a list")
	case len(words) > maxNumbers:
		return fmt.Errorf("%d numbers: at most %d", len(words), maxNumbers)
	}
	values := make([]int64, len(words))
	for i, word := range words {
		word = strings.TrimSpace(word)
		v, err := strconv.ParseInt(word, 10, 64)
		switch {
		case word == "":
			return errors.New("a number is missing")
		case errors.Is(err, strconv.ErrRange) || err == nil && (v < n.least || v > n.most):
			return fmt.Errorf("%s is not within %d and %d", word, n.least, n.most)
		case err != nil:
			return fmt.Errorf("%q is not a whole number, such as %d", word, max(1, n.least))
		}
		values[i] = v
	}
	n.values = values
	return nil
}

// String implements pflag.Value.
func (n *numbers) String() string {
	words := make([]string, len(n.values))
	for i, v := range n.values {
		words[i] = strconv.FormatInt(v, 10)
	}
	return strings.Join(words, ",")
}

// Type implements pflag.Value: it is what --help shows behind the flag.
func (n *numbers) Type() string {
	if n.list {
		return "N,N"
	}
	return "N"
}
