package referee

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options says how a program is graded. The zero value grades every scenario with
// seed 0.
type Options struct {
	// Seed decides what is drawn and the order of the scenarios.
	Seed uint64
	// Only are the scenarios to run; empty: all.
	Only []string
	// StopAtFirst leaves out what comes after the first failure.
	StopAtFirst bool
	// Event is called with everything as it happens. It may be nil, and must not
	// block.
	Event func(Event)
}

// Event is something that happened while a program was being run.
type Event struct {
	Scenario string
	At       float64 // milliseconds from the start of the program
	Lane     string  // program, partner or referee
	Text     string
}

// GradeSchema names the form of a Grade in JSON.
const GradeSchema = "lab.grade/1"

// Grade is the outcome of a grading.
type Grade struct {
	Schema  string    `json:"schema"`
	Lab     int       `json:"lab"`
	Title   string    `json:"title"`
	Program string    `json:"program"`
	Seed    uint64    `json:"seed"`
	At      time.Time `json:"at"`
	Verdict Verdict   `json:"verdict"`
	// Confined says that the program could write only in its folder, in that for
	// passing things and in caches; Loose why not, if it was to be.
	Confined  bool      `json:"confined"`
	Loose     string    `json:"not_confined,omitempty"`
	Predicted []Finding `json:"predicted,omitempty"`
	Scenarios []Result  `json:"scenarios"` // in the order of running
	// LeftOut are those that cannot be run on this machine: they change no verdict.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// LeftOut is a scenario that was not run.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Result is the outcome of one scenario.
type Result struct {
	Name     string             `json:"name"`
	Tells    string             `json:"tells"`
	Verdict  Verdict            `json:"verdict"`
	Runs     int                `json:"runs"` // more than one if the first was inconclusive
	Findings []Finding          `json:"findings"`
	Env      map[string]string  `json:"env"`
	Lines    map[string]float64 `json:"lines,omitempty"`
	Seen     *Seen              `json:"seen"`
}

// maxRuns is how often an inconclusive scenario is run before it stays so.
const maxRuns = 4

// Run grades a program. When ctx is done everything is ended and Run returns what
// there is so far, with the error of ctx. Every other error is the referee's own.
func Run(ctx context.Context, lab *Lab, p *Program, o Options) (Grade, error) {
	g := Grade{
		Schema: GradeSchema, Lab: lab.Number, Title: lab.Title, Program: p.String(), Seed: o.Seed,
		At: time.Now(), Verdict: Pass, Confined: p.confined, Loose: p.loose,
	}
	if len(o.Only) == 0 {
		g.Predicted = lab.judgePredictions(p.dir)
		for _, f := range g.Predicted {
			g.Verdict = worse(g.Verdict, f.Verdict)
		}
	}
	order, err := lab.order(o)
	if err != nil {
		return g, err
	}
	for _, s := range order {
		if o.StopAtFirst && g.Verdict == Fail {
			break
		}
		if err := p.Lacks(s); err != nil {
			g.LeftOut = append(g.LeftOut, LeftOut{s.Name, oneLine(err.Error())})
			continue
		}
		r, err := lab.runScenario(ctx, s, p, o)
		if err != nil {
			return g, err
		}
		g.Scenarios = append(g.Scenarios, r)
		g.Verdict = worse(g.Verdict, r.Verdict)
	}
	return g, nil
}

// order returns the scenarios to run, shuffled by the seed.
func (l *Lab) order(o Options) ([]*Scenario, error) {
	var order []*Scenario
	for i := range l.Scenarios {
		if len(o.Only) == 0 {
			order = append(order, &l.Scenarios[i])
		}
	}
	for _, name := range o.Only {
		s, err := l.Scenario(name)
		if err != nil {
			return nil, err
		}
		order = append(order, s)
	}
	chance(o.Seed, "order").Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order, nil
}

func (l *Lab) runScenario(ctx context.Context, s *Scenario, p *Program, o Options) (Result, error) {
	prep, err := l.prepare(s, o.Seed)
	if err != nil {
		return Result{}, err
	}
	r := Result{Name: s.Name, Tells: s.Tells, Env: prep.env, Lines: prep.lines}
	failed := false
	for r.Runs < maxRuns {
		r.Runs++
		run := &scenarioRun{prepared: prep, program: p, event: o.Event}
		seen, own, err := run.do(ctx)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			return r, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		r.Seen, r.Findings, r.Verdict = seen, own, Pass
		if len(own) == 0 || !fatal(own) {
			for _, w := range prep.checks {
				r.Findings = append(r.Findings, w.apply(seen))
			}
		}
		for _, f := range r.Findings {
			r.Verdict = worse(r.Verdict, f.Verdict)
		}
		if r.Verdict == Fail && !failed && !r.sure() && seen.Noise.Busy() {
			failed = true
			run.tell("referee", "failed, on a machine without a core to spare: it is run again, and has failed if it does so twice")
			awaitCalm(ctx)
			continue
		}
		if r.Verdict != Inconclusive {
			break
		}
		awaitCalm(ctx)
		run.tell("referee", "inconclusive, the machine was too busy (woken %v late, %v without a core)", seen.Noise.Late, seen.Noise.Starved)
	}
	return r, nil
}

// sure says whether something has failed for which no machine can be to blame.
func (r *Result) sure() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Verdict == Fail && f.sure })
}

// fatal says whether what the referee itself found makes the checks pointless.
func fatal(own []Finding) bool {
	return slices.ContainsFunc(own, func(f Finding) bool { return f.Check == OwnStart })
}

// FirstBad returns the first finding that did not pass, and where, or nil.
func (g *Grade) FirstBad() (scenario string, f *Finding) {
	for _, want := range []Verdict{Fail, Inconclusive} {
		for i := range g.Predicted {
			if g.Predicted[i].Verdict == want {
				return OwnPredict, &g.Predicted[i]
			}
		}
		for _, s := range g.Scenarios {
			if f := s.FirstBad(); f != nil && f.Verdict == want {
				return s.Name, f
			}
		}
	}
	return "", nil
}

// FirstBad returns the first finding that failed, or else the first that is
// inconclusive, or nil.
func (r *Result) FirstBad() *Finding {
	for _, want := range []Verdict{Fail, Inconclusive} {
		for i := range r.Findings {
			if r.Findings[i].Verdict == want {
				return &r.Findings[i]
			}
		}
	}
	return nil
}

// Feedback returns the four lines for a finding that did not pass.
func (f Finding) Feedback(scenario string) string {
	head := strings.ToUpper(string(f.Verdict)) + "  " + scenario + ": " + f.Check
	if f.Verdict == Inconclusive {
		head += " (this machine was too busy to tell: run it again)"
	}
	return fmt.Sprintf("%s\n  seen:     %s\n  expected: %s\n  look at:  %s\n", head, f.Seen, f.Expected, f.Look)
}
