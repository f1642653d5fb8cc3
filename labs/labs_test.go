package labs

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"chaoslab/labs/referee"
	"chaoslab/labs/referee/confine"
	"chaoslab/labs/referee/folder"
)

func TestMain(m *testing.M) {
	if code, handled := confine.Main(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// just is for whoever writes an exercise: go test ./labs -lab 2
var just = flag.Int("lab", 0, "only the exercise of this number")

// atATime is how many gradings run side by side: they mostly wait, and must not
// disturb each other.
const atATime = 6

// job is one grading, and what must come of it.
type job struct {
	name  string
	lab   *referee.Lab
	lang  string
	files map[string][]byte // over the starter
	only  []string
	want  string // pass, fail, or "SCENARIO CHECK" that must be the first failure
}

// TestEveryExercise grades, for every exercise and language, the starter, which
// must fail, the solution, which must pass, and the wrong programs, which must
// each fail for the right reason.
func TestEveryExercise(t *testing.T) {
	t.Parallel()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	var jobs []job
	for _, lab := range all {
		if *just == 0 || *just == lab.Number {
			jobs = append(jobs, jobsOf(t, lab)...)
		}
	}
	results := make([]string, len(jobs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range atATime {
		wg.Go(func() {
			for i := range next {
				results[i] = jobs[i].grade(t.Context(), filepath.Join(t.TempDir(), "lab"))
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	for i, j := range jobs {
		// Eight gradings beside other packages' tests can starve one program without
		// the canary's noticing it: a second time it has the machine to itself.
		if results[i] != "" {
			t.Logf("%s, beside others: %s", j.name, results[i])
			results[i] = j.grade(t.Context(), filepath.Join(t.TempDir(), "lab"))
		}
	}
	for i, j := range jobs {
		t.Run(j.name, func(t *testing.T) {
			if results[i] != "" {
				t.Errorf("%s: %s\nwant %s", j.name, results[i], j.want)
			}
		})
	}
}

func jobsOf(t *testing.T, lab *referee.Lab) []job {
	t.Helper()
	var jobs []job
	var names []string
	for _, s := range lab.Scenarios {
		names = append(names, s.Name)
	}
	langs := folder.Langs(lab)
	if !slices.Contains(langs, "go") || !slices.Contains(langs, "python") {
		t.Errorf("%s: starters in %v, want go and python at least", lab.Folder(), langs)
	}
	if len(lab.Wrong) < 3 {
		t.Errorf("%s: %d wrong programs, want three at least", lab.Folder(), len(lab.Wrong))
	}
	for _, lang := range langs {
		if _, err := exec.LookPath(map[string]string{"python": "python3", "node": "node", "go": "go", "sh": "curl"}[lang]); err != nil {
			t.Logf("%s in %s is left out: %v", lab.Folder(), lang, err)
			continue
		}
		solution, err := folder.Solution(lab, lang)
		if err != nil {
			t.Error(err)
			continue
		}
		jobs = append(jobs,
			job{lab.Folder() + "/" + lang + "/starter", lab, lang, nil, names, "fail"},
			job{lab.Folder() + "/" + lang + "/solution", lab, lang, solution, nil, "pass"})
		for _, w := range lab.Wrong {
			if w.Lang == lang || w.Lang == "" && lang == "python" {
				jobs = append(jobs, wrongJob(t, lab, lang, w, solution))
			}
		}
	}
	return jobs
}

// wrongJob is the solution, made wrong.
func wrongJob(t *testing.T, lab *referee.Lab, lang string, w referee.Wrong, solution map[string][]byte) job {
	t.Helper()
	main := map[string]string{"python": "main.py", "go": "main.go", "node": "main.js", "sh": "main.sh"}[lang]
	text := string(solution[main])
	for i, from := range w.From {
		if n := strings.Count(text, from); n != 1 {
			t.Errorf("%s, wrong program %q: %q stands %d times in the solution, want once", lab.Folder(), w.Name, from, n)
		}
		text = strings.Replace(text, from, w.To[i], 1)
	}
	files := maps.Clone(solution)
	files[main] = []byte(text)
	scenario, _, _ := strings.Cut(w.Fails, " ")
	return job{lab.Folder() + "/wrong/" + strings.ReplaceAll(w.Name, " ", "-"), lab, lang, files, []string{scenario}, w.Fails}
}

// grade runs the job, and returns what is wrong with its outcome, or "".
func (j job) grade(ctx context.Context, dir string) string {
	if _, err := folder.Lay(j.lab, j.lang, dir); err != nil {
		return err.Error()
	}
	for name, text := range j.files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err.Error()
		}
	}
	p, err := referee.Prepare(ctx, referee.ProgramConfig{Dir: dir, Env: os.Environ(), Confine: true})
	if err != nil {
		return err.Error()
	}
	defer p.Close()
	complaint, unsure := "", false
	// The machine may be busy for a while: nobody is to be failed for that here
	// either, and no wrong program let off because its fault did not show.
	for seed := range uint64(4) {
		g, err := referee.Run(ctx, j.lab, p, referee.Options{Seed: seed + 1, Only: j.only, StopAtFirst: true})
		if err != nil {
			return err.Error()
		}
		if complaint = j.complain(g); complaint == "" || !loud(g) {
			return complaint
		}
		if _, bad := g.FirstBad(); bad != nil && bad.Verdict == referee.Inconclusive && (j.want == "pass" || j.want == "fail") {
			unsure = true
		}
		unsure = unsure || j.want == firstDoubt(g)
	}
	if unsure {
		return "" // too busy to the last: an inconclusive verdict is not a wrong one
	}
	return complaint
}

// complain says what is wrong with the outcome, or "".
func (j job) complain(g referee.Grade) string {
	scenario, bad := g.FirstBad()
	switch {
	case string(g.Verdict) == j.want:
		return ""
	case bad == nil:
		return string(g.Verdict)
	case scenario+" "+bad.Check == j.want && bad.Verdict == referee.Fail:
		return ""
	}
	return fmt.Sprintf("seed %d:\n%s%s", g.Seed, bad.Feedback(scenario), noiseOf(g, scenario))
}

// firstDoubt is the first check that did not pass, failed or inconclusive: where
// noise muted the right reason, another may have failed after it.
func firstDoubt(g referee.Grade) string {
	for _, r := range g.Scenarios {
		for _, f := range r.Findings {
			if f.Verdict != referee.Pass {
				return r.Name + " " + f.Check
			}
		}
	}
	return ""
}

// loud says whether the machine was too busy in any of the scenarios.
func loud(g referee.Grade) bool {
	return slices.ContainsFunc(g.Scenarios, func(r referee.Result) bool { return r.Seen != nil && r.Seen.Noise.Loud() })
}

func noiseOf(g referee.Grade, scenario string) string {
	for _, s := range g.Scenarios {
		if s.Name == scenario && s.Seen != nil {
			return fmt.Sprintf("noise %+v, lines %+v", s.Seen.Noise, s.Seen.Lines)
		}
	}
	return ""
}
