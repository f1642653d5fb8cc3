package proof

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"chaoslab/labs/referee"
	"chaoslab/labs/referee/folder"
	"chaoslab/labs/sandbox"
)

// Kind says what a program is.
type Kind string

// The kinds.
const (
	Starter  Kind = "starter"
	Solution Kind = "solution"
	Wrong    Kind = "wrong"
)

// Job is one program, and what must come of it.
type Job struct {
	Name string // EXERCISE/LANGUAGE/KIND, for a wrong program with its name
	Lab  *referee.Lab
	Lang string
	Kind Kind

	files map[string][]byte // over the starter
	only  []string
	want  string // pass, fail, or "SCENARIO CHECK" that must be the first failure
}

// Missing returns why the job cannot be done on this machine: its language is not
// installed, or there is no private network and it wants that.
func (j Job) Missing() error {
	l, _ := folder.LanguageOf(j.Lang)
	if _, err := exec.LookPath(l.Needs); err != nil {
		return err
	}
	if j.Kind == Wrong {
		if s, err := j.Lab.Scenario(j.only[0]); err == nil && s.SynRetries > 0 {
			return sandbox.Available()
		}
	}
	return nil
}

// Wants says what must come of it.
func (j Job) Wants() string { return j.want }

// Jobs returns the jobs of an exercise. The error tells everything in which the
// exercise is not whole: a language without a solution, a change that does not
// fit.
func Jobs(lab *referee.Lab) ([]Job, error) {
	var jobs []Job
	var wrong []error
	var names []string
	for _, s := range lab.Scenarios {
		names = append(names, s.Name)
	}
	langs := folder.Langs(lab)
	for _, lang := range langs {
		solution, err := folder.Solution(lab, lang)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		job := func(kind Kind) Job {
			return Job{Name: lab.Folder() + "/" + lang + "/" + string(kind), Lab: lab, Lang: lang, Kind: kind}
		}
		starter, solved := job(Starter), job(Solution)
		starter.only, starter.want = names, string(referee.Fail)
		solved.files, solved.want = solution, string(referee.Pass)
		jobs = append(jobs, starter, solved)
		for _, w := range lab.Wrong {
			if langOf(w) != lang {
				continue
			}
			j := job(Wrong)
			j.Name += "/" + strings.ReplaceAll(w.Name, " ", "-")
			if j.files, err = spoil(solution, lang, w); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", lab.Folder(), err))
			}
			scenario, _, _ := strings.Cut(w.Fails, " ")
			j.only, j.want = []string{scenario}, w.Fails
			jobs = append(jobs, j)
		}
	}
	for _, w := range lab.Wrong {
		if !slices.Contains(langs, langOf(w)) {
			wrong = append(wrong, fmt.Errorf("%s: wrong program %q: there is no solution in %s", lab.Folder(), w.Name, langOf(w)))
		}
	}
	return jobs, errors.Join(wrong...)
}

func langOf(w referee.Wrong) string {
	if w.Lang == "" {
		return "python"
	}
	return w.Lang
}

// spoil returns the solution, made wrong.
func spoil(solution map[string][]byte, lang string, w referee.Wrong) (map[string][]byte, error) {
	l, ok := folder.LanguageOf(lang)
	if !ok {
		return nil, fmt.Errorf("no language %q", lang)
	}
	text := string(solution[l.Main])
	for i, from := range w.From {
		if n := strings.Count(text, from); n != 1 {
			return nil, fmt.Errorf("wrong program %q: %q stands %d times in the solution, want once", w.Name, from, n)
		}
		text = strings.Replace(text, from, w.To[i], 1)
	}
	files := maps.Clone(solution)
	files[l.Main] = []byte(text)
	return files, nil
}
