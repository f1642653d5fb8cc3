package referee

import (
	"fmt"
	"math"
	"strings"
)

func effectsCheck() Check {
	return Check{
		Name: "effects", Help: "the effect took place so often", Hard: true,
		Look:   "what is sent again although it may have been done",
		Params: append(spanParams(), at(), Param{Name: "duplicates", Number: true, Help: "repeats that the partner knew by their key"}),
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.span(math.Inf(1))
			var n, twice float64
			for name, e := range s.Effects {
				if a["at"] == "" || a["at"] == name {
					n += float64(e.Effects)
					twice += float64(e.Duplicates)
				}
			}
			seen := fmt.Sprintf("%v effects%s", n, where(a))
			expected := fmt.Sprintf("%s effects%s", between(from, to), where(a))
			if a.has("duplicates") {
				seen += fmt.Sprintf(", %v known repeats", twice)
				expected += fmt.Sprintf(", %s known repeats", a["duplicates"])
			}
			return n >= from && n <= to && (!a.has("duplicates") || twice == a.num("duplicates", 0)), seen, expected
		},
	}
}

// requests returns the attempts that came whole.
func (s *Seen) requests(at string) []Attempt {
	var all []Attempt
	for _, t := range s.At(at) {
		if t.Kind == "request" {
			all = append(all, t)
		}
	}
	return all
}

func sameKeyCheck() Check {
	return Check{
		Name: "same-key", Help: "every attempt carries the same Idempotency-Key", Hard: true,
		Look:   "where the key is made: once for the call, not once for each attempt",
		Params: []Param{at()},
		judge: func(a args, s *Seen) (bool, string, string) {
			const expected = "the same Idempotency-Key on every attempt"
			keys := map[string]bool{}
			all, without := s.requests(a["at"]), 0
			for _, t := range all {
				keys[t.Entry.Key] = true
				if t.Entry.Key == "" {
					without++
				}
			}
			switch {
			case without > 0:
				return false, fmt.Sprintf("%d requests, %d of them without a key", len(all), without), expected
			case len(keys) != 1:
				return false, fmt.Sprintf("%d different keys on %d requests", len(keys), len(all)), expected
			}
			return true, "one key", expected
		},
	}
}

func otherKeysCheck() Check {
	return Check{
		Name: "keys", Help: "so many different Idempotency-Keys were seen", Hard: true,
		Look:   "which calls are the same job and which are not",
		Params: append(spanParams(), at()),
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.span(math.Inf(1))
			keys := map[string]bool{}
			for _, t := range s.requests(a["at"]) {
				if t.Entry.Key != "" {
					keys[t.Entry.Key] = true
				}
			}
			n := float64(len(keys))
			return n >= from && n <= to, fmt.Sprintf("%v keys", n), fmt.Sprintf("%s different keys", between(from, to))
		},
	}
}

func lastOfKeyCheck() Check {
	return Check{
		Name: "per-key", Help: "each Idempotency-Key is sent at most so often", Hard: true,
		Look:   "when an attempt is counted: before it is sent, so that a crash cannot give it back",
		Params: []Param{{Name: "most", Number: true, Help: "needed"}, {Name: "key", Help: "only this key"}, {Name: "exactly", Help: "yes: not fewer either"}, at()},
		judge: func(a args, s *Seen) (bool, string, string) {
			most := a.num("most", 1)
			expected := fmt.Sprintf("at most %v requests for a key", most)
			if a["exactly"] == "yes" {
				expected = fmt.Sprintf("%v requests for the key %s", most, a["key"])
			}
			counts := map[string]float64{}
			for _, t := range s.requests(a["at"]) {
				if !a.has("key") || t.Entry.Key == a["key"] {
					counts[t.Entry.Key]++
				}
			}
			worst, key := 0.0, a["key"]
			for k, n := range counts {
				if n > worst {
					worst, key = n, k
				}
			}
			ok := worst <= most && (a["exactly"] != "yes" || worst == most)
			return ok, fmt.Sprintf("%v for %q", worst, key), expected
		},
	}
}

func oneOf(words, word string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if w == word {
			return true
		}
	}
	return false
}

func contains(text, part string) bool {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return strings.Contains(squeeze(text), squeeze(part))
}
