package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// None is the value of a duration flag that was given as the word "none". It
// equals budgetcaller.NoLimit.
const None time.Duration = math.MaxInt64

// MaxDuration is the longest duration that a flag takes.
const MaxDuration = 366 * 24 * time.Hour

// errZero is what a duration of zero is refused with.
var errZero = errors.New("a duration is above zero")

// ParseDuration reads a duration above zero with its unit, such as 300ms. What
// bites elsewhere is refused: a bare number, a negative one, an empty string,
// one that overflows, and 0, which some tools take for "no limit".
func ParseDuration(s string) (time.Duration, error) {
	if s == "" {
		return 0, errors.New("empty: write a duration with its unit, such as 300ms")
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil && strings.HasPrefix(s, "-") && isNumber(s):
		return 0, fmt.Errorf("%q is negative", s)
	case err != nil && isNumber(s):
		return 0, fmt.Errorf("%q has no unit: write %sms or %ss", s, s, s)
	case err != nil && overflows(s):
		return 0, fmt.Errorf("%q is too long: at most %s", s, MaxDuration)
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration: write a number with its unit, such as 300ms or 1.5s", s)
	case d < 0:
		return 0, fmt.Errorf("%q is negative", s)
	case d == 0:
		return 0, fmt.Errorf("%q is refused: %w", s, errZero)
	case d > MaxDuration:
		return 0, fmt.Errorf("%q is too long: at most %s", s, MaxDuration)
	}
	return d, nil
}

// overflows says whether s, which time.ParseDuration refused, is a number with
// a unit it knows: then it was refused for its size.
func overflows(s string) bool {
	number := strings.TrimLeft(s, "0123456789")
	_, err := time.ParseDuration("1" + number)
	return number != s && err == nil
}

func isNumber(s string) bool {
	for i, r := range s {
		if (r < '0' || r > '9') && r != '.' && (i > 0 || r != '-') {
			return false
		}
	}
	return true
}

// Duration is a flag value that keeps a duration as ParseDuration reads it and,
// if AllowNone is set, the word none as None. Its zero value prints as empty.
type Duration struct {
	D         time.Duration
	AllowNone bool
	IsSet     bool // given on the command line, not the default
}

// Set implements pflag.Value.
func (d *Duration) Set(s string) error {
	if s == "none" && d.AllowNone {
		d.D, d.IsSet = None, true
		return nil
	}
	v, err := ParseDuration(s)
	if errors.Is(err, errZero) && d.AllowNone {
		return fmt.Errorf("%w; write none if no limit is meant", err)
	}
	if err != nil {
		return err
	}
	d.D, d.IsSet = v, true
	return nil
}

// String implements pflag.Value.
func (d *Duration) String() string {
	switch d.D {
	case 0:
		return ""
	case None:
		return "none"
	}
	return d.D.String()
}

// Type implements pflag.Value.
func (d *Duration) Type() string { return "duration" }
