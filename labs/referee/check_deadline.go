package referee

import (
	"fmt"
	"math"
)

// Names of the headers that pass a deadline down.
const (
	headerTimeout  = "X-Request-Timeout-Ms"
	headerDeadline = "X-Request-Deadline"
)

func deadlineTellsCheck() Check {
	return Check{
		Name: "deadline", Timed: true, Help: "each attempt tells in X-Request-Timeout-Ms what is left of the budget at that moment",
		Look:   "when the header's value is worked out: for each attempt, as it is sent",
		Params: []Param{{Name: "budget", Number: true, Help: "in milliseconds; needed"}, {Name: "slack", Number: true, Help: "milliseconds; 150"}, at()},
		judge: func(a args, s *Seen) (bool, string, string) {
			budget, slack := a.num("budget", 0), a.slack(150)
			all := s.requests(a["at"])
			expected := fmt.Sprintf("%s = what is left of %.0f ms, on each attempt", headerTimeout, budget)
			if len(all) == 0 {
				return false, "no request came" + s.lastError(), expected
			}
			first := s.First()
			seen := ""
			for i, t := range all {
				// The budget began before the first contact, by what the program
				// took for it: the value may be lower than ours by slack.
				left := budget - (t.Start - first)
				seen = fmt.Sprintf("attempt %d%s: %.0f with %.0f ms left", i+1, where(a), t.Entry.TimeoutMS, left)
				switch told := t.Entry.TimeoutMS; {
				case told == 0:
					return false, fmt.Sprintf("attempt %d%s: no %s", i+1, where(a), headerTimeout), expected
				case told > left+25+a.num(noiseArg, 0) || told < left-slack:
					return false, seen, expected
				}
			}
			return true, seen, expected
		},
	}
}

func deadlineFallsCheck() Check {
	return Check{
		Name: "deadline-stands", Timed: true, Help: "every attempt names the same moment in X-Request-Deadline, and a shorter time left than the one before",
		Look:   "whether the deadline is fixed once, or starts afresh with each attempt",
		Params: []Param{at(), {Name: "slack", Number: true, Help: "milliseconds; 30"}},
		judge: func(a args, s *Seen) (bool, string, string) {
			const expected = headerDeadline + " the same on all attempts, " + headerTimeout + " falling"
			all := s.requests(a["at"])
			if len(all) < 2 {
				return false, fmt.Sprintf("%d requests", len(all)), expected
			}
			for i, t := range all {
				if i == 0 {
					continue
				}
				before := all[i-1].Entry
				if t.Entry.TimeoutMS == 0 || t.Entry.TimeoutMS >= before.TimeoutMS {
					return false, fmt.Sprintf("%s: %.0f and then %.0f", headerTimeout, before.TimeoutMS, t.Entry.TimeoutMS), expected
				}
				if t.Entry.DeadlineMS == 0 || math.Abs(t.Entry.DeadlineMS-before.DeadlineMS) > a.slack(30) {
					return false, fmt.Sprintf("%s: %.0f and then %.0f", headerDeadline, before.DeadlineMS, t.Entry.DeadlineMS), expected
				}
			}
			return true, "so it is", expected
		},
	}
}

func noDeadlineCheck() Check {
	return Check{
		Name: "timeout-at-most", Help: "no attempt tells a longer X-Request-Timeout-Ms than that",
		Look: "where the program's own cap comes in", Hard: true,
		Params: []Param{{Name: "ms", Number: true, Help: "needed"}, at()},
		judge: func(a args, s *Seen) (bool, string, string) {
			most := a.num("ms", 0)
			expected := fmt.Sprintf("%s of 1 to %.0f", headerTimeout, most)
			all := s.requests(a["at"])
			if len(all) == 0 {
				return false, "no request came" + s.lastError(), expected
			}
			for _, t := range all {
				if t.Entry.TimeoutMS < 1 || t.Entry.TimeoutMS > most {
					return false, fmt.Sprintf("%.0f", t.Entry.TimeoutMS), expected
				}
			}
			return true, fmt.Sprintf("%.0f at first", all[0].Entry.TimeoutMS), expected
		},
	}
}

func untoldCheck() Check {
	return Check{
		Name: "no-timeout", Help: "no attempt tells an X-Request-Timeout-Ms",
		Look: "under which policy a hop tells the next how long it waits", Hard: true,
		Params: []Param{at()},
		judge: func(a args, s *Seen) (bool, string, string) {
			expected := "no " + headerTimeout + where(a)
			for i, t := range s.requests(a["at"]) {
				if t.Entry.TimeoutSent {
					return false, fmt.Sprintf("attempt %d%s: %.0f", i+1, where(a), t.Entry.TimeoutMS), expected
				}
			}
			return true, "none", expected
		},
	}
}

func floorCheck() Check {
	return Check{
		Name: "above-floor", Help: "no attempt begins with less than the floor left of the budget",
		Look:   "what the program asks before it starts an attempt: is enough left for it to succeed?",
		Params: []Param{{Name: "budget", Number: true, Help: "needed"}, {Name: "floor", Number: true, Help: "needed"}, at()},
		judge: func(a args, s *Seen) (bool, string, string) {
			budget, floor := a.num("budget", 0), a.num("floor", 0)
			expected := fmt.Sprintf("no attempt with less than %.0f ms left", floor)
			least := budget
			for _, t := range s.At(a["at"]) {
				left := budget - (t.Start - s.First())
				// What the program itself takes from its decision to the wire.
				if left < floor-25 {
					return false, fmt.Sprintf("an attempt at %s with %.0f ms left", t.Listener, left), expected
				}
				least = math.Min(least, left)
			}
			return true, fmt.Sprintf("the last one with %.0f ms left", least), expected
		},
	}
}
