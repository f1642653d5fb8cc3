package referee

import (
	"fmt"
	"slices"
	"strings"
)

func saidCheck() Check {
	return Check{
		Name: "said", Help: "the program's last line is the word, or has it in the field",
		Look: "what the last line of the output says",
		Params: []Param{
			{Name: "word", Help: "what it must be: a|b for one of several; needed"},
			{Name: "field", Help: "of the JSON object; class if not given, which a bare word answers for"},
		},
		judge: func(a args, s *Seen) (bool, string, string) {
			words := strings.Split(strings.ToLower(a["word"]), "|")
			expected := fmt.Sprintf("%s in the last line of stdout", strings.Join(words, " or "))
			if a.has("field") {
				expected = fmt.Sprintf("%s: %s in the last line of stdout", a["field"], strings.Join(words, " or "))
			}
			got, ok := s.Said.Word(a["field"])
			switch {
			case s.Said.Text == "":
				return false, "the program wrote nothing to stdout" + s.lastError(), expected
			case a.has("field") && s.Said.Fields == nil:
				return false, fmt.Sprintf("%q, which is no JSON object", s.Said.Text), expected
			case !ok:
				return false, fmt.Sprintf("no such field in %s", s.Said.Text), expected
			}
			return slices.Contains(words, got), fmt.Sprintf("%q", got), expected
		},
	}
}

// lastError is the last line that the program wrote to stderr, in words.
func (s *Seen) lastError() string {
	for _, l := range slices.Backward(s.Lines) {
		if l.Err && strings.TrimSpace(l.Text) != "" {
			return "; its last line on stderr: " + l.Text
		}
	}
	return ""
}

func saidNumberCheck() Check {
	return Check{
		Name: "said-number", Help: "the field of the program's last line is a number in the range",
		Look:   "how the program works that figure out",
		Params: []Param{{Name: "field", Help: "needed"}, {Name: "from", Number: true}, {Name: "to", Number: true}, {Name: "n", Number: true, Help: "exactly that"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.span(0)
			expected := fmt.Sprintf("%s: %s in the last line of stdout", a["field"], between(from, to))
			n, ok := s.Said.Number(a["field"])
			if !ok || s.Said.Fields == nil {
				return false, fmt.Sprintf("no such number in %q", s.Said.Text) + s.lastError(), expected
			}
			return n >= from && n <= to, fmt.Sprintf("%s: %v", a["field"], n), expected
		},
	}
}

// predictedCheck holds the program's own figure against another that it gives:
// what a student foretells and then measures.
func predictedCheck() Check {
	return Check{
		Name: "sum", Help: "the fields of the program's last line add up to another of them",
		Look:   "whether every part is counted, and none twice",
		Params: []Param{{Name: "fields", Help: "a+b+c; needed"}, {Name: "total", Help: "the field that must be their sum; needed"}, {Name: "within", Number: true, Help: "how far it may be off"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			expected := fmt.Sprintf("%s = %s, within %v", a["fields"], a["total"], a.num("within", 0))
			var sum float64
			for field := range strings.SplitSeq(a["fields"], "+") {
				n, ok := s.Said.Number(field)
				if !ok {
					return false, fmt.Sprintf("no number %s in %q", field, s.Said.Text), expected
				}
				sum += n
			}
			total, ok := s.Said.Number(a["total"])
			if !ok {
				return false, fmt.Sprintf("no number %s in %q", a["total"], s.Said.Text), expected
			}
			off := sum - total
			return off <= a.num("within", 0) && -off <= a.num("within", 0), fmt.Sprintf("%v and %v", sum, total), expected
		},
	}
}

// between writes a range.
func between(from, to float64) string {
	if from == to {
		return fmt.Sprintf("%v", from)
	}
	return fmt.Sprintf("%v to %v", from, to)
}

// betweenMS writes a range of milliseconds.
func betweenMS(from, to float64) string { return fmt.Sprintf("%.0f to %.0f ms", from, to) }
