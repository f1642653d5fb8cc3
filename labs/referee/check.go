package referee

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// Check is one thing that a scenario can want of a run: one line of Checks.
type Check struct {
	Name   string
	Help   string // what holds if it passes, one line
	Look   string // which thing to look at, unless the scenario says better
	Params []Param
	// Hard means that no delay of the machine can make a right program fail it.
	Hard bool
	// Timed means that from, to and slack are milliseconds.
	Timed bool
	// judge says whether it holds, what was seen and what was expected.
	judge func(args, *Seen) (holds bool, seen, expected string)
	// span returns the time in which noise has a say, in milliseconds; nil or false:
	// the whole run.
	span func(args, *Seen) (from, to float64, ok bool)
}

// Param is one parameter of a check. All are optional unless Help says so.
type Param struct {
	Name   string
	Number bool
	Help   string
}

// args are the parameters of one check, as they were written.
type args map[string]string

func (a args) has(name string) bool { _, ok := a[name]; return ok }

// num returns a number, or otherwise if it was not given.
func (a args) num(name string, otherwise float64) float64 {
	n, err := strconv.ParseFloat(a[name], 64)
	if err != nil {
		return otherwise
	}
	return n
}

// count returns a whole number from n, or from and to.
func (a args) span(otherwise float64) (from, to float64) {
	if a.has("n") {
		n := a.num("n", 0)
		return n, n
	}
	return a.num("from", 0), a.num("to", otherwise)
}

// Checks returns every check. To add one, write its function and add its line
// here.
func Checks() []Check {
	return []Check{
		saidCheck(), saidNumberCheck(), predictedCheck(),
		attemptsCheck(), tookCheck(), gapCheck(), gapsVaryCheck(), apartCheck(), totalCheck(), untilCheck(), connectedCheck(),
		effectsCheck(), sameKeyCheck(), otherKeysCheck(), lastOfKeyCheck(),
		deadlineFallsCheck(), deadlineTellsCheck(), noDeadlineCheck(), untoldCheck(), floorCheck(),
		repliesCheck(), replyTookCheck(), orphansCheck(),
		percentileCheck(), ratioCheck(), mentionsCheck(), atOnceCheck(),
	}
}

func lookup(name string) (Check, error) {
	var names []string
	for _, c := range Checks() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Check{}, fmt.Errorf("no check %q: one of %s", name, strings.Join(names, ", "))
}

func (c Check) param(name string) (Param, bool) {
	for _, p := range c.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// apply judges a run.
func (w wanted) apply(s *Seen) Finding {
	holds, seen, expected := w.check.judge(w.args, s)
	f := Finding{Check: w.check.Name, Verdict: Pass, Seen: oneLine(seen), Expected: oneLine(expected), Look: w.look}
	f.sure = w.check.Hard
	if f.Look == "" {
		f.Look = w.check.Look
	}
	switch {
	case holds && w.hides > 0 && millis(s.Noise.Late+s.Noise.Starved) >= w.hides:
		f.Verdict = Inconclusive
	case holds:
	case !w.check.Hard && w.forgives(s):
		f.Verdict = Inconclusive
	default:
		f.Verdict = Fail
	}
	return f
}

// forgives says whether the machine's noise can account for the failure: it was
// loud and, for a check of times, it holds with its bounds wider by what noise may
// have done.
func (w wanted) forgives(s *Seen) bool {
	noise := s.Noise
	if w.check.span != nil && s.noiseIn != nil {
		if from, to, ok := w.check.span(w.args, s); ok {
			noise = s.noiseIn(from, to)
		}
	}
	if !noise.Loud() || !w.check.Timed {
		return noise.Loud() && millis(noise.Late+noise.Starved) >= w.room
	}
	ms := millis(lateShare*noise.Late + starvedShare*noise.Starved)
	wide := maps.Clone(w.args)
	for name, by := range map[string]float64{"from": -ms, "to": ms} {
		if n, err := strconv.ParseFloat(wide[name], 64); err == nil {
			wide[name] = strconv.FormatFloat(n+by, 'f', -1, 64)
		}
	}
	wide[noiseArg] = strconv.FormatFloat(ms, 'f', -1, 64)
	holds, _, _ := w.check.judge(wide, s)
	return holds
}

// noiseArg is set while noise is asked after: by how many milliseconds a check of
// times is to widen a bound that has a length of its own.
const noiseArg = "noise"

// slack returns how far a time may be off: the parameter, or otherwise, and what
// noise may have done.
func (a args) slack(otherwise float64) float64 { return a.num("slack", otherwise) + a.num(noiseArg, 0) }

// How many times the noise that was measured a figure may be off because of it.
// Late is the latest of some wakings, and a figure rests on several; what the
// program waited for a core is known in full, and its partner may wait as long.
const (
	lateShare    = 3
	starvedShare = 2
)

// oneLine keeps what a program said from breaking the form of a finding.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.Map(printable, s)), " ")
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown-1]) + "…"
	}
	return s
}

// maxShown is how many characters of a text a finding shows.
const maxShown = 160

func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffd {
		return ' '
	}
	return r
}
