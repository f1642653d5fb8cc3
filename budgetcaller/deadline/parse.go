package deadline

import "strings"

// Reading says what became of one header.
type Reading uint8

const (
	// Absent: it was not sent.
	Absent Reading = iota
	// Read: it is a number that makes sense. Zero or less is one too: it says
	// that the deadline is already over.
	Read
	// Malformed: it is not a whole number in decimal digits. Counts as absent.
	Malformed
	// Doubled: it was sent more than once, be it with the same value. Counts
	// as absent.
	Doubled
	// Absurd: it is a number that cannot be meant: more than 15 digits, a time
	// longer than MaxCap, or a moment more than MaxCap from the arrival. Counts
	// as absent.
	Absurd
	// Skewed: the moment lies further from the relative value's than the skew
	// bound, so that one of the two clocks is wrong, or the request waited
	// longer than that on its way. Counts as absent.
	Skewed
)

// String returns the reading as one lower-case word, fit for a metric's label.
func (r Reading) String() string {
	names := [...]string{"absent", "read", "malformed", "doubled", "absurd", "skewed"}
	if int(r) >= len(names) {
		return "unknown"
	}
	return names[r]
}

// maxDigits holds any moment for the next thousands of years, and no number of
// so many digits overflows.
const maxDigits = 15

// Parse reads the values of one of the two headers, one string for each time
// that it was sent, and says what it makes of them: Absent, Read, Malformed,
// Doubled or Absurd. The number is 0 unless they were Read. It is a minus or
// none, then 1 to 15 digits; blanks around it are no part of a field's value
// (RFC 9110, section 5.5). A plus, a fraction, an exponent and two values
// joined by a comma are Malformed.
func Parse(values []string) (int64, Reading) {
	switch len(values) {
	case 0:
		return 0, Absent
	case 1:
	default:
		return 0, Doubled
	}
	text := strings.Trim(values[0], " \t")
	digits, negative := strings.CutPrefix(text, "-")
	if digits == "" {
		return 0, Malformed
	}
	var n int64
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, Malformed
		}
		if i < maxDigits {
			n = n*10 + int64(c-'0')
		}
	}
	if len(digits) > maxDigits {
		return 0, Absurd
	}
	if negative {
		n = -n
	}
	return n, Read
}
