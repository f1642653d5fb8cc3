package faults

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// When says which requests of a listener a fault hits, by their number from 1
// (connections, for a fault at connection level). All conditions that are set
// must hold. The zero value hits every one.
type When struct {
	First uint64  // only the first so many; 0: no bound
	After uint64  // only those after so many
	Every uint64  // only every so manyth; 0: all
	Ratio float64 // each with this chance, above 0 and at most 1; 0: certain
}

// ParseWhen reads conditions such as first=3, every=5, after=10 and ratio=0.2,
// several joined by "+".
func ParseWhen(text string) (When, error) {
	var w When
	seen := map[string]bool{}
	for part := range strings.SplitSeq(strings.ReplaceAll(text, " ", "+"), "+") {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return When{}, fmt.Errorf("%s is given twice", key)
		}
		seen[key] = true
		if key == "ratio" {
			r, err := strconv.ParseFloat(value, 64)
			if err != nil || !(r > 0 && r <= 1) {
				return When{}, fmt.Errorf("ratio=%s is out of range: above 0 and at most 1", value)
			}
			w.Ratio = r
			continue
		}
		number := map[string]*uint64{"first": &w.First, "after": &w.After, "every": &w.Every}[key]
		if number == nil {
			return When{}, fmt.Errorf("unknown condition %q: first=N, every=N, after=N or ratio=R, joined by +", part)
		}
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil || n == 0 {
			return When{}, fmt.Errorf("%s=%s is out of range: a whole number from 1", key, value)
		}
		*number = n
	}
	if w.First > 0 && w.First/max(1, w.Every)*max(1, w.Every) <= w.After {
		return When{}, fmt.Errorf("%s hits nothing: no number is within first and beyond after", w)
	}
	return w, nil
}

// String returns the conditions as they are written, empty for the zero value.
func (w When) String() string {
	var parts []string
	for _, c := range []struct {
		key string
		n   uint64
	}{{"first", w.First}, {"after", w.After}, {"every", w.Every}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", c.key, c.n))
		}
	}
	if w.Ratio > 0 {
		parts = append(parts, "ratio="+strconv.FormatFloat(w.Ratio, 'g', -1, 64))
	}
	return strings.Join(parts, "+")
}

// hits says whether number n is hit. Chance comes from r, which is drawn from
// exactly once if a ratio is set and not at all otherwise.
func (w When) hits(n uint64, r *rand.Rand) bool {
	hit := (w.First == 0 || n <= w.First) && n > w.After && (w.Every == 0 || n%w.Every == 0)
	if w.Ratio > 0 && r.Float64() >= w.Ratio {
		return false
	}
	return hit
}
