package proof

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"chaoslab/labs/referee"
	"chaoslab/labs/referee/folder"
)

// Mark says how a verdict stands to what it must be.
type Mark string

// The marks.
const (
	Right  Mark = "right"
	Unsure Mark = "inconclusive" // nobody was failed or passed wrongly
	Off    Mark = "wrong"
)

// Outcome is what came of a job.
type Outcome struct {
	Mark  Mark
	Why   string // unless it is right
	Loud  bool   // the machine was too busy in one of the scenarios
	Again int    // how often a scenario was run anew because it was inconclusive
	// Elsewhere: it is inconclusive, and not in what the program must fail by.
	Elsewhere bool
}

// Grade lays the job's program in dir, which must be empty or not there, and
// grades it once, as a student's is. An error of ctx is an error of the outcome.
func (j Job) Grade(ctx context.Context, dir string, seed uint64) Outcome {
	p, err := j.prepare(ctx, dir)
	if err != nil {
		return Outcome{Mark: Off, Why: err.Error()}
	}
	defer p.Close() //nolint:errcheck // what is left is in the folder for passing things
	return j.run(ctx, p, seed)
}

// GradeUntilSure grades up to len(seeds) times, until the machine lets it tell. A
// verdict that is not the right one counts at once if the machine was quiet. If it
// was loud to the last, a right program may be inconclusive and the mark is Unsure.
func (j Job) GradeUntilSure(ctx context.Context, dir string, seeds ...uint64) Outcome {
	p, err := j.prepare(ctx, dir)
	if err != nil {
		return Outcome{Mark: Off, Why: err.Error()}
	}
	defer p.Close() //nolint:errcheck // what is left is in the folder for passing things
	var o Outcome
	var unsure *Outcome
	for _, seed := range seeds {
		if o = j.run(ctx, p, seed); o.Mark == Right || o.Mark == Off && !o.Loud {
			return o
		}
		if o.Mark == Unsure && (unsure == nil || unsure.Elsewhere) {
			one := o
			unsure = &one
		}
	}
	if unsure != nil {
		return *unsure
	}
	return o
}

func (j Job) prepare(ctx context.Context, dir string) (*referee.Program, error) {
	if _, err := folder.Lay(j.Lab, j.Lang, dir); err != nil {
		return nil, err
	}
	for name, text := range j.files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	return referee.Prepare(ctx, referee.ProgramConfig{Dir: dir, Env: os.Environ(), Confine: true, Sandbox: true})
}

func (j Job) run(ctx context.Context, p *referee.Program, seed uint64) Outcome {
	g, err := referee.Run(ctx, j.Lab, p, referee.Options{Seed: seed, Only: j.only, StopAtFirst: true})
	if err != nil {
		return Outcome{Mark: Off, Why: err.Error()}
	}
	o := judge(j.want, g)
	for _, r := range g.Scenarios {
		o.Again += r.Runs - 1
		o.Loud = o.Loud || r.Seen != nil && r.Seen.Noise.Loud()
	}
	return o
}

// judge says how a grading stands to what is wanted.
func judge(want string, g referee.Grade) Outcome {
	scenario, bad := g.FirstBad()
	switch {
	case string(g.Verdict) == want:
		return Outcome{Mark: Right}
	case bad == nil:
		return Outcome{Mark: Off, Why: fmt.Sprintf("seed %d: %s", g.Seed, g.Verdict)}
	}
	o := Outcome{Mark: Off, Why: fmt.Sprintf("seed %d: %s%s", g.Seed, bad.Feedback(scenario), noiseOf(g, scenario))}
	switch {
	case bad.Verdict == referee.Fail && scenario+" "+bad.Check == want:
		return Outcome{Mark: Right}
	case bad.Verdict == referee.Inconclusive:
		o.Mark = Unsure
		o.Elsewhere = want != string(referee.Pass) && want != string(referee.Fail) && !slices.Contains(doubts(g), want)
	case slices.Contains(doubts(g), want):
		// It has failed, as it must; noise has muted the reason, and another that
		// follows from it has failed after it.
		return Outcome{Mark: Right}
	}
	return o
}

// doubts are the checks that are inconclusive, as "SCENARIO CHECK".
func doubts(g referee.Grade) []string {
	var all []string
	for _, r := range g.Scenarios {
		for _, f := range r.Findings {
			if f.Verdict == referee.Inconclusive {
				all = append(all, r.Name+" "+f.Check)
			}
		}
	}
	return all
}

// maxTold is how many attempts are told of.
const maxTold = 12

func noiseOf(g referee.Grade, scenario string) string {
	for _, s := range g.Scenarios {
		if s.Name == scenario && s.Seen != nil {
			text := fmt.Sprintf("noise %+v, run %d times, lines %+v", s.Seen.Noise, s.Runs, s.Seen.Lines)
			for i, a := range s.Seen.Attempts {
				if i == maxTold {
					return text + " …"
				}
				text += fmt.Sprintf("\n  %s %s %.1f to %.1f ms, unsure %.1f, %s by %s", a.Listener, a.Kind, a.Start, a.End, a.Unsure, a.How, a.By)
			}
			return text
		}
	}
	return ""
}
