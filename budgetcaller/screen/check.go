package screen

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
)

// Verdict says whether a plan's numbers fit each other. The zero value is Sound.
type Verdict uint8

// The verdicts, in order of how much they worry.
const (
	Sound      Verdict = iota
	Tight              // over 80 % of what there is, or short of it at worst
	CannotHold         // what is promised does not fit
)

// String returns "sound", "tight" or "cannot_hold".
func (v Verdict) String() string {
	switch v {
	case Sound:
		return "sound"
	case Tight:
		return "tight"
	case CannotHold:
		return "cannot_hold"
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// MarshalText implements encoding.TextMarshaler with String's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; an unknown word is an error.
func (v *Verdict) UnmarshalText(text []byte) error {
	for k := Sound; k <= CannotHold; k++ {
		if k.String() == string(text) {
			*v = k
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q: one of sound, tight, cannot_hold", text)
}

// Topic says what a Note is about.
type Topic string

// The topics.
const (
	TopicAttempts Topic = "attempts" // a part's attempts and waits
	TopicFloor    Topic = "floor"    // whether a part can be called at all
	TopicExpected Topic = "expected" // a part's usual time against its limit
	TopicTotal    Topic = "total"    // all parts together
	TopicRequired Topic = "required" // everything is required
	TopicReasons  Topic = "reasons"  // numbers without one
)

// Note is one thing that Check has to say.
type Note struct {
	Topic   Topic
	Part    string // empty if it is about the whole screen
	Verdict Verdict
	Text    string
}

// Worst returns the verdict of the worst note, Sound without any.
func Worst(notes []Note) Verdict {
	worst := Sound
	for _, n := range notes {
		worst = max(worst, n.Verdict)
	}
	return worst
}

// Check looks at the numbers of the screen without calling anything: whether
// all attempts of a part and the waits between them fit, whether every part can
// be called at all when those before it take their usual time, which numbers
// have no reason, and what it means that everything is required.
func (s *Screen) Check() []Note {
	c := checker{have: s.budget.D - s.reserve.D}
	var usual, worst time.Duration
	bounded := true
	for _, group := range s.groups {
		var groupUsual, groupWorst time.Duration
		for i := range group {
			p := &group[i]
			c.attempts(p)
			c.reachable(p, usual)
			groupUsual = max(groupUsual, p.Expected.D)
			most, ok := p.worst()
			bounded = bounded && ok
			groupWorst = max(groupWorst, most)
		}
		usual, worst = plus(usual, groupUsual), plus(worst, groupWorst)
	}
	switch {
	case usual > c.have:
		c.add(TopicTotal, "", CannotHold, "the parts usually take %v together, %s", usual, c.there())
	case bounded && worst > c.have && c.worst() < CannotHold:
		c.add(TopicTotal, "", Tight, "the parts may take %v together, %s: then the last ones are cut or not called", worst, c.there())
	}
	c.required(s.parts())
	c.reasons(s)
	return c.notes
}

// checker gathers the notes of Check.
type checker struct {
	have  time.Duration // what the parts get
	notes []Note
}

func (c *checker) add(topic Topic, part string, v Verdict, format string, args ...any) {
	c.notes = append(c.notes, Note{topic, part, v, fmt.Sprintf(format, args...)})
}

func (c *checker) worst() Verdict { return Worst(c.notes) }

func (c *checker) there() string { return fmt.Sprintf("and there are %v for them", c.have) }

// attempts holds a part's attempts and waits against what it may take.
func (c *checker) attempts(p *part) {
	if p.attempt == budgetcaller.NoLimit {
		return // each takes what is left, so together they always fit
	}
	may, bound := c.have, fmt.Sprintf("the %v that the parts have", c.have)
	if p.limit < may {
		may, bound = p.limit, fmt.Sprintf("its limit of %v", p.limit)
	}
	tries, waits := p.tries()
	all := plus(times(p.attempt, tries), waits)
	sum := fmt.Sprintf("attempt limit %v × %d = %v", p.attempt, tries, times(p.attempt, tries))
	if tries == 1 {
		sum = fmt.Sprintf("attempt limit %v", p.attempt)
	}
	if waits > 0 {
		sum += fmt.Sprintf(" and waits of up to %v", waits)
	}
	switch {
	case all > may:
		c.add(TopicAttempts, p.Name, CannotHold, "%s: more than %s", sum, bound)
	case all > may/5*4:
		c.add(TopicAttempts, p.Name, Tight, "%s: over 80 %% of %s", sum, bound)
	}
}

// reachable holds a part's floor against what is left for it when all parts
// before it take their usual time.
func (c *checker) reachable(p *part, before time.Duration) {
	left := max(0, c.have-before) - p.Fallback.SetAside.D
	if may := min(p.limit, p.attempt); p.Expected.D > may {
		c.add(TopicExpected, p.Name, CannotHold, "it usually takes %v, and its limit is %v", p.Expected.D, may)
	}
	switch {
	case p.floor <= left:
	case before == 0:
		c.add(TopicFloor, p.Name, CannotHold, "it is never called: its floor is %v, and there are %v for it", p.floor, max(0, left))
	default:
		c.add(TopicFloor, p.Name, CannotHold, "it is not called even when those before it take their usual %v: its floor is %v, and %v are left then", before, p.floor, max(0, left))
	}
}

// required says what it means that everything is required.
func (c *checker) required(parts []part) {
	if len(parts) < 2 {
		return
	}
	product, same := 1.0, true
	for i := range parts {
		if parts[i].Optional {
			return
		}
		product *= parts[i].Availability
		same = same && parts[i].Availability == parts[0].Availability
	}
	of := make([]string, len(parts))
	for i := range parts {
		of[i] = percent(parts[i].Availability)
	}
	each := strings.Join(of, " × ")
	if same {
		each = fmt.Sprintf("%d at %s", len(parts), of[0])
	}
	c.add(TopicRequired, "", Sound, "everything is required, so the availabilities multiply: %s make %s", each, percent(product))
}

// percent shows a share with one digit behind the point, or more where it would
// round up to the whole.
func percent(share float64) string {
	for digits := 1; digits < 6; digits++ {
		text := strconv.FormatFloat(share*100, 'f', digits, 64)
		if !strings.HasPrefix(text, "100.") || share == 1 {
			return strings.TrimSuffix(text, ".0") + " %"
		}
	}
	return "almost 100 %"
}

// reasons names the numbers without one.
func (c *checker) reasons(s *Screen) {
	var without []string
	note := func(name string, n Number) {
		if n.D > 0 && n.Reason == "" {
			without = append(without, name)
		}
	}
	note("budget", s.budget)
	note("reserve", s.reserve)
	for _, p := range s.parts() {
		note(p.Name+" limit", p.Limit)
		if p.Dependency == nil || p.Expected.D != p.Dependency.Expected {
			note(p.Name+" expected", p.Expected)
		}
		note(p.Name+" floor", p.Floor)
		note(p.Name+" set aside", p.Fallback.SetAside)
		note(p.Name+" max age", p.Fallback.MaxAge)
	}
	if len(without) > 0 {
		c.add(TopicReasons, "", Sound, "no reason is given for: %s", strings.Join(without, ", "))
	}
}

// tries returns how many attempts the part may make and how long the waits
// between them may be, all together.
func (p *part) tries() (int, time.Duration) {
	if p.Dependency == nil {
		return 1, 0
	}
	tries := max(1, p.Dependency.Retry.Attempts)
	policy, err := backoff.New(p.Dependency.Retry.Backoff)
	if err != nil {
		return tries, 0 // the Caller refuses it, too, and says why
	}
	var waits time.Duration
	for n := 1; n < tries; n++ {
		waits = plus(waits, policy.Window(n))
	}
	return tries, waits
}

// once reports whether the part is known to make one attempt at most.
func (p *part) once() bool { return p.Dependency != nil && p.Dependency.Retry.Attempts <= 1 }

// worst returns the most that the part may take, false if only the budget bounds
// it.
func (p *part) worst() (time.Duration, bool) {
	tries, waits := p.tries()
	all := plus(times(p.attempt, tries), waits)
	most := min(p.limit, all)
	return most, most < math.MaxInt64
}

// plus and times stay at the greatest duration where the true one is beyond it.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(d time.Duration, n int) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return d * time.Duration(n)
}
