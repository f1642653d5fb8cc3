package referee

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func percentileCheck() Check {
	return Check{
		Name: "percentile", Help: "the field is the percentile of the answered attempts, as the partner saw them",
		Look:   "which attempts are counted, and which of them in order is the percentile",
		Params: []Param{{Name: "field", Help: "needed"}, {Name: "p", Number: true, Help: "from 1 to 100; needed"}, {Name: "slack", Number: true, Help: "milliseconds; 15"}, at()},
		Timed:  true,
		judge: func(a args, s *Seen) (bool, string, string) {
			var took []float64
			for _, t := range s.At(a["at"]) {
				if t.How == "answered" && t.Entry.Status < 400 {
					took = append(took, t.Took())
				}
			}
			if len(took) == 0 {
				return false, "nothing was answered" + s.lastError(), "answered attempts"
			}
			slices.Sort(took)
			// Nearest rank: the smallest with p per cent at or below it.
			want := took[max(0, int(math.Ceil(a.num("p", 99)/100*float64(len(took))))-1)]
			expected := fmt.Sprintf("%s: about %.0f, the p%s of %d answered", a["field"], want, a["p"], len(took))
			got, ok := s.Said.Number(a["field"])
			if !ok {
				return false, fmt.Sprintf("no number %s in %q", a["field"], s.Said.Text) + s.lastError(), expected
			}
			return math.Abs(got-want) <= a.slack(15), fmt.Sprintf("%v", got), expected
		},
	}
}

func ratioCheck() Check {
	return Check{
		Name: "ratio", Help: "one field is so many times another", Hard: true,
		Look:   "the factor",
		Params: []Param{{Name: "field", Help: "needed"}, {Name: "of", Help: "needed"}, {Name: "from", Number: true}, {Name: "to", Number: true}},
		judge: func(a args, s *Seen) (bool, string, string) {
			expected := fmt.Sprintf("%s = %s times %s", a["field"], between(a.num("from", 0), a.num("to", 0)), a["of"])
			n, ok := s.Said.Number(a["field"])
			of, ok2 := s.Said.Number(a["of"])
			if !ok || !ok2 || of == 0 {
				return false, fmt.Sprintf("not both are numbers in %q", s.Said.Text) + s.lastError(), expected
			}
			return n/of >= a.num("from", 0) && n/of <= a.num("to", 0), fmt.Sprintf("%.2f times", n/of), expected
		},
	}
}

func mentionsCheck() Check {
	return Check{
		Name: "mentions", Help: "the field holds each of the words", Hard: true,
		Look:   "what a stranger needs to know about the number",
		Params: []Param{{Name: "field", Help: "needed"}, {Name: "words", Help: "a|b; needed"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			text, _ := s.Said.Word(a["field"])
			expected := fmt.Sprintf("%s with %s in it", a["field"], strings.ReplaceAll(a["words"], "|", ", "))
			for word := range strings.SplitSeq(strings.ToLower(a["words"]), "|") {
				if !strings.Contains(text, word) {
					return false, fmt.Sprintf("%q lacks %q", text, word), expected
				}
			}
			return true, text, expected
		},
	}
}

func atOnceCheck() Check {
	return Check{
		Name: "at-once", Help: "at most so many attempts are open at the same time",
		Look:   "what bounds the number of connections",
		Params: []Param{{Name: "most", Number: true, Help: "needed"}, {Name: "slack", Number: true, Help: "milliseconds by which one may seem to begin before another has ended; 5"}, at()},
		Timed:  true,
		judge: func(a args, s *Seen) (bool, string, string) {
			all := s.At(a["at"])
			worst := 0
			for _, t := range all {
				n := 0
				for _, other := range all {
					// One ends where the next begins: the partner writes the end down once
					// the answer is on its way.
					if other.Start <= t.Start && other.End > t.Start+a.slack(5) {
						n++
					}
				}
				worst = max(worst, n)
			}
			return float64(worst) <= a.num("most", 1), fmt.Sprintf("%d at once", worst), fmt.Sprintf("at most %s at once", a["most"])
		},
	}
}
