package referee

import (
	"fmt"
	"math"
)

func apartCheck() Check {
	return Check{
		Name: "starts", Timed: true, Help: "the attempt began so long after the first one",
		Look:   "how the time of this attempt is worked out",
		Params: []Param{{Name: "from", Number: true}, {Name: "to", Number: true}, at(), nthParam()},
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.num("from", 0), a.num("to", math.Inf(1))
			expected := fmt.Sprintf("attempt %s%s begun %s after the first contact", a["nth"], where(a), betweenMS(from, to))
			t, ok := nth(a, s.At(a["at"]))
			if !ok {
				return false, fmt.Sprintf("only %d attempts%s", len(s.At(a["at"])), where(a)), expected
			}
			after := t.Start - s.First()
			return after >= from && after <= to, fmt.Sprintf("%.0f ms after it", after), expected
		},
	}
}

// totalCheck judges from the first contact on: what a language takes to start is
// nobody's fault.
func totalCheck() Check {
	return Check{
		Name: "ended", Timed: true, Help: "the program was done so long after its first contact",
		Look:   "what it still does or waits for",
		Params: []Param{{Name: "from", Number: true}, {Name: "to", Number: true}},
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.num("from", 0), a.num("to", math.Inf(1))
			expected := fmt.Sprintf("done %s after the first contact", betweenMS(from, to))
			if len(s.Attempts) == 0 || len(s.Lives) == 0 {
				return false, "nothing reached a partner" + s.lastError(), expected
			}
			took := s.spoke() - s.First()
			return took >= from && took <= to, fmt.Sprintf("%.0f ms", took), expected
		},
	}
}

// spoke returns when the program gave its answer: at its last line of output, or
// when it ended if it wrote none.
func (s *Seen) spoke() float64 {
	end := s.Lives[len(s.Lives)-1].End
	for i := len(s.Lines) - 1; i >= 0; i-- {
		if !s.Lines[i].Err {
			return math.Min(end, s.Lines[i].At)
		}
	}
	return end
}

func untilCheck() Check {
	return Check{
		Name: "quiet-after", Timed: true, Help: "nothing begins or goes on so long after the first contact",
		Look:   "what is still under way when the budget is over",
		Params: []Param{{Name: "ms", Number: true, Help: "needed"}, {Name: "slack", Number: true, Help: "for what was under way; 150"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			limit, slack := a.num("ms", 0), a.slack(150)
			expected := fmt.Sprintf("no attempt begun after %.0f ms, none open %.0f ms later", limit, slack)
			first := s.First()
			last := 0.0
			for _, t := range s.Attempts {
				if t.Start-first > limit+slack {
					return false, fmt.Sprintf("an attempt at %s begun after %.0f ms", t.Listener, t.Start-first), expected
				}
				if t.End-first > limit+slack {
					return false, fmt.Sprintf("an attempt at %s open until %.0f ms", t.Listener, t.End-first), expected
				}
				last = math.Max(last, t.End-first)
			}
			return true, fmt.Sprintf("the last contact ended after %.0f ms", last), expected
		},
	}
}

func repliesCheck() Check {
	return Check{
		Name: "reply", Help: "the program, as a server, answered the call with the status",
		Look:   "what the program answers its own caller, and when",
		Params: []Param{{Name: "status", Help: "one of a|b; 0: no answer in time"}, {Name: "body", Help: "a text that must be in it"}, nthParam(), {Name: "every", Help: "yes: each of them"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			expected := "status " + a["status"]
			if a.has("body") {
				expected += " and in the body " + a["body"]
			}
			replies, ok := pickReplies(a, s)
			if !ok {
				return false, fmt.Sprintf("only %d calls were made", len(s.Replies)) + s.lastError(), expected
			}
			var seen string
			for _, r := range replies {
				seen = fmt.Sprintf("status %d, body %q", r.Status, r.Body)
				if r.Status == 0 {
					seen = "no answer: " + r.Error + s.lastError()
				}
				if a.has("status") && !oneOf(a["status"], fmt.Sprint(r.Status)) || !contains(r.Body, a["body"]) {
					return false, seen, expected
				}
			}
			return true, seen, expected
		},
	}
}

func pickReplies(a args, s *Seen) ([]Reply, bool) {
	if a["every"] == "yes" {
		return s.Replies, len(s.Replies) > 0
	}
	i := int(a.num("nth", 1)) - 1
	if i < 0 {
		i = len(s.Replies) + i + 1
	}
	if i < 0 || i >= len(s.Replies) {
		return nil, false
	}
	return s.Replies[i : i+1], true
}

func replyTookCheck() Check {
	return Check{
		Name: "reply-took", Timed: true, Help: "the program, as a server, answered within so long",
		Look:   "how long the program lets its own caller wait",
		Params: []Param{{Name: "from", Number: true}, {Name: "to", Number: true}, nthParam(), {Name: "every", Help: "yes: each of them"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			from, to := a.num("from", 0), a.num("to", math.Inf(1))
			expected := fmt.Sprintf("an answer after %s", betweenMS(from, to))
			replies, ok := pickReplies(a, s)
			if !ok {
				return false, fmt.Sprintf("only %d calls were made", len(s.Replies)) + s.lastError(), expected
			}
			var seen string
			for _, r := range replies {
				took := r.End - r.Start
				seen = fmt.Sprintf("%.0f ms", took)
				if took < from || took > to {
					return false, seen, expected
				}
			}
			return true, seen, expected
		},
	}
}

func orphansCheck() Check {
	return Check{
		Name: "no-orphans", Timed: true, Help: "no work is begun at a partner after the one who asked has gone",
		Look:   "whether the time that is left is passed on, or started afresh at each hop",
		Params: []Param{at(), {Name: "slack", Number: true, Help: "milliseconds; 40"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			expected := "no request begun after the caller at the top had its answer"
			if len(s.Replies) == 0 {
				return false, "no call was made", expected
			}
			end := s.Replies[len(s.Replies)-1].End
			for _, t := range s.At(a["at"]) {
				if t.Start > end+a.slack(40) {
					return false, fmt.Sprintf("a request%s begun %.0f ms after it", where(a), t.Start-end), expected
				}
			}
			return true, "none", expected
		},
	}
}
