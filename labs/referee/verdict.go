package referee

// Verdict is the outcome of a check, a scenario or a grading.
type Verdict string

// The verdicts, from good to bad.
const (
	Pass         Verdict = "pass"
	Inconclusive Verdict = "inconclusive" // the machine was too busy to tell
	Fail         Verdict = "fail"
)

// worse returns the worse of the two: one failure fails the whole.
func worse(a, b Verdict) Verdict {
	rank := map[Verdict]int{Pass: 1, Inconclusive: 2, Fail: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// Finding is what one check found. Seen, Expected and Look are one line each.
type Finding struct {
	Check    string  `json:"check"` // its name, or what the referee itself looks at: see Own
	Verdict  Verdict `json:"verdict"`
	Seen     string  `json:"seen"`
	Expected string  `json:"expected"`
	Look     string  `json:"look,omitempty"` // which thing to look at

	sure bool // no machine, however busy, can be to blame
}

// What the referee looks at in every scenario, whatever its checks.
const (
	OwnStart    = "starts"   // the program can be started
	OwnEnds     = "ends"     // it ends by itself in time
	OwnOutput   = "output"   // it does not print without end
	OwnChildren = "children" // it leaves no process behind
	OwnPredict  = "predict"  // the student's own figures, written down beforehand
)
