package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"chaoslab/labs/deadlinechain"
)

// costFlag is a flag value: what a call of the leaf takes, the same each time or
// drawn.
type costFlag struct {
	text  string
	draw  deadlinechain.Draw // nil: the same each time
	usual int64              // that, or the middle of what is drawn
}

func (c *costFlag) random() bool { return c.draw != nil }

// Set implements pflag.Value.
func (c *costFlag) Set(text string) error {
	text = strings.ReplaceAll(text, " ", "")
	name, rest, random := strings.Cut(text, "(")
	if !random {
		n := numbers{least: 1, most: deadlinechain.MaxTime}
		if err := n.Set(text); err != nil {
			return fmt.Errorf("%w; random is uniform(5,15) or lognormal(p50=10,p99=50)", err)
		}
		*c = costFlag{n.String(), nil, n.first()}
		return nil
	}
	keys := [2]string{}
	switch name {
	case "uniform":
	case "lognormal":
		keys = [2]string{"p50=", "p99="}
	default:
		return fmt.Errorf("%q is not random: write uniform(5,15) or lognormal(p50=10,p99=50)", name)
	}
	low, high, err := twoNumbers(rest, keys)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	if name == "uniform" {
		draw, err := deadlinechain.Uniform(low, high)
		if err != nil {
			return fmt.Errorf("%s: from the least to the most, 1 to %d", text, int64(deadlinechain.MaxTime))
		}
		*c = costFlag{text, draw, low + (high-low+1)/2}
		return nil
	}
	draw, err := deadlinechain.Lognormal(low, high)
	if err != nil {
		return fmt.Errorf("%s: p50 at most p99, 1 to %d", text, int64(deadlinechain.MaxTime))
	}
	*c = costFlag{text, draw, low}
	return nil
}

// twoNumbers reads "5,15)", with a word before each number.
func twoNumbers(text string, words [2]string) (a, b int64, err error) {
	inner, after, ok := strings.Cut(text, ")")
	if !ok || after != "" {
		return 0, 0, errors.New("it ends with one bracket")
	}
	parts := strings.Split(inner, ",")
	if len(parts) != 2 {
		return 0, 0, errors.New("takes two numbers with a comma between them")
	}
	var n [2]int64
	for i, part := range parts {
		digits, ok := strings.CutPrefix(part, words[i])
		if !ok {
			return 0, 0, fmt.Errorf("%q: write %sN", part, words[i])
		}
		if n[i], err = strconv.ParseInt(digits, 10, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, 0, fmt.Errorf("%q is not a whole number", digits)
		}
		if err != nil {
			n[i] = math.MaxInt64 // beyond any bound
		}
	}
	return n[0], n[1], nil
}

// String implements pflag.Value.
func (c *costFlag) String() string { return c.text }

// Type implements pflag.Value: it is what --help shows behind the flag.
func (c *costFlag) Type() string { return "N|DRAW" }
