package referee

import (
	"fmt"
	"math"
	"strings"
)

func at() Param { return Param{Name: "at", Help: "only at this partner"} }

func spanParams() []Param {
	return []Param{{Name: "from", Number: true}, {Name: "to", Number: true}, {Name: "n", Number: true, Help: "exactly that"}}
}

// where writes the partner that a check is about.
func where(a args) string {
	if a.has("at") {
		return " at " + a["at"]
	}
	return ""
}

func attemptsCheck() Check {
	return Check{
		Name: "attempts", Help: "the partner saw so many attempts",
		Look:   "when the program tries again, and when it stops",
		Params: append(spanParams(), at(), Param{Name: "path", Help: "only those for this path"}),
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.span(math.Inf(1))
			n := 0.0
			blind := false
			for _, t := range s.At(a["at"]) {
				if !a.has("path") || t.Entry.Path == a["path"] {
					n++
				}
				blind = blind || t.Kind == "connect"
			}
			seen := fmt.Sprintf("%v%s", n, where(a))
			if n == 0 && !blind {
				seen += " (nothing reached it)" + s.lastError()
			}
			expected := fmt.Sprintf("attempts%s: %s", where(a), between(from, to))
			if math.IsInf(to, 1) {
				expected = fmt.Sprintf("attempts%s: at least %v", where(a), from)
			}
			return n >= from && n <= to, seen, expected
		},
	}
}

// nth returns the attempt that "nth" names, from 1; -1 is the last. Without it,
// the first.
func nth(a args, all []Attempt) (Attempt, bool) {
	i := int(a.num("nth", 1)) - 1
	if i < 0 {
		i = len(all) + i + 1
	}
	if i < 0 || i >= len(all) {
		return Attempt{}, false
	}
	return all[i], true
}

func nthParam() Param {
	return Param{Name: "nth", Number: true, Help: "which one, from 1; -1 for the last"}
}

func tookCheck() Check {
	return Check{
		Name: "took", Timed: true, Help: "the attempt lasted so long, and who is named ended it",
		Look:   "which limit ends this attempt",
		Params: []Param{{Name: "from", Number: true}, {Name: "to", Number: true}, {Name: "by", Help: "client or partner"}, at(), nthParam(), {Name: "every", Help: "yes: each of them"}},
		span: func(a args, s *Seen) (float64, float64, bool) {
			one, ok := nth(a, s.At(a["at"]))
			return one.Start, one.End, ok && a["every"] != "yes"
		},
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.num("from", 0), a.num("to", math.Inf(1))
			expected := fmt.Sprintf("an attempt of %s%s", betweenMS(from, to), where(a))
			if a.has("by") {
				expected += ", ended by the " + a["by"]
			}
			all := s.At(a["at"])
			if a["every"] != "yes" {
				one, ok := nth(a, all)
				if !ok {
					return false, fmt.Sprintf("only %d attempts%s", len(all), where(a)) + s.lastError(), expected
				}
				all = []Attempt{one}
			}
			seen := "nothing reached it" + s.lastError()
			for _, t := range all {
				seen = fmt.Sprintf("%.0f ms%s, ended by the %s", t.Took(), where(a), t.By)
				if t.By == "" {
					seen = fmt.Sprintf("%.0f ms%s, and not ended", t.Took(), where(a))
				}
				if t.Took()+t.Unsure < from || t.Took() > to || a.has("by") && t.By != a["by"] {
					return false, seen, expected
				}
			}
			return len(all) > 0, seen, expected
		},
	}
}

// gaps returns the milliseconds from the end of each attempt to the beginning of
// the next.
func gaps(all []Attempt) []float64 {
	var g []float64
	for i := 1; i < len(all); i++ {
		g = append(g, all[i].Start-all[i-1].End)
	}
	return g
}

func gapCheck() Check {
	return Check{
		Name: "gap", Timed: true, Help: "between the end of one attempt and the next lies so long",
		Look:   "how long the program waits before it tries again",
		Params: []Param{{Name: "from", Number: true}, {Name: "to", Number: true}, {Name: "nth", Number: true, Help: "which gap, from 1; all if not given"}, at()},
		span: func(a args, s *Seen) (float64, float64, bool) {
			all, i := s.At(a["at"]), int(a.num("nth", 0))
			if i < 1 || i >= len(all) {
				return 0, 0, false
			}
			return all[i-1].End, all[i].Start, true
		},
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.num("from", 0), a.num("to", math.Inf(1))
			expected := fmt.Sprintf("a wait of %s between two attempts%s", betweenMS(from, to), where(a))
			if a.has("nth") {
				expected = fmt.Sprintf("a wait of %s after attempt %s%s", betweenMS(from, to), a["nth"], where(a))
			}
			g := gaps(s.At(a["at"]))
			if a.has("nth") {
				i := int(a.num("nth", 1)) - 1
				if i < 0 || i >= len(g) {
					return false, fmt.Sprintf("only %d attempts%s", len(s.At(a["at"])), where(a)), expected
				}
				g = g[i : i+1]
			}
			for _, ms := range g {
				if ms < from || ms > to {
					return false, fmt.Sprintf("%.0f ms (all: %s)", ms, list(gaps(s.At(a["at"])))), expected
				}
			}
			return true, list(g), expected
		},
	}
}

func gapsVaryCheck() Check {
	return Check{
		Name: "gaps-vary", Help: "the waits are not all the same share of their window",
		Look: "where chance comes in: full jitter draws each wait anew from 0 to its window",
		Params: []Param{
			{Name: "base", Number: true, Help: "of the window that doubles; needed"},
			{Name: "cap", Number: true},
			{Name: "by", Number: true, Help: "least spread of the shares; 0.1"},
			{Name: "low", Number: true, Help: "of the waits whose window is the cap one is such a share or less"},
			{Name: "high", Number: true, Help: "and one is such a share or more"},
			at(),
		},
		judge: func(a args, s *Seen) (bool, string, string) {
			least, noise := a.num("by", 0.1), 0.0
			if s.Noise.Loud() {
				// Noise spreads waits too: what it may have added does not count.
				noise = millis(s.Noise.Late+s.Noise.Starved) / a.num("cap", a.num("base", 1))
			}
			expected := fmt.Sprintf("shares of the window that differ by %.2f or more", least+noise)
			if a.has("low") {
				expected += fmt.Sprintf(", at the cap one of %.2f or less and one of %.2f or more", a.num("low", 1), a.num("high", 0))
			}
			low, high := math.Inf(1), math.Inf(-1)       // of all
			atLeast, atMost := math.Inf(1), math.Inf(-1) // at the cap
			var shares []string
			for i, ms := range gaps(s.At(a["at"])) {
				window := a.num("base", 1) * math.Pow(2, float64(i))
				capped := window >= a.num("cap", math.Inf(1))
				share := ms / math.Min(window, a.num("cap", math.Inf(1)))
				low, high = math.Min(low, share), math.Max(high, share)
				if capped {
					atLeast, atMost = math.Min(atLeast, share), math.Max(atMost, share)
				}
				shares = append(shares, fmt.Sprintf("%.2f", share))
			}
			if len(shares) < 2 {
				return false, fmt.Sprintf("%d waits", len(shares)), expected
			}
			holds := high-low >= least+noise
			if a.has("low") {
				holds = holds && atLeast <= a.num("low", 1) && atMost >= a.num("high", 0)+noise
			}
			return holds, strings.Join(shares, ", "), expected
		},
	}
}

// list writes milliseconds.
func list(all []float64) string {
	if len(all) == 0 {
		return "no wait"
	}
	texts := make([]string, len(all))
	for i, ms := range all {
		texts[i] = fmt.Sprintf("%.0f", ms)
	}
	return strings.Join(texts, ", ") + " ms"
}

func connectedCheck() Check {
	return Check{
		Name: "no-request", Help: "no request came whole at the partner",
		Look: "what the program sends, and where", Hard: true,
		Params: []Param{at()},
		judge: func(a args, s *Seen) (bool, string, string) {
			n := 0
			for _, t := range s.At(a["at"]) {
				if t.Kind == "request" {
					n++
				}
			}
			return n == 0, fmt.Sprintf("%d requests%s", n, where(a)), "no request" + where(a)
		},
	}
}
