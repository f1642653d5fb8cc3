package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chaoslab/labs/referee"
	"chaoslab/labs/referee/handin"
)

// The files of a student's folder.
const (
	TaskFile   = "TASK.md"
	stateDir   = ".lab"
	progressAt = stateDir + "/progress.json"
	lastAt     = stateDir + "/last.json"
	// ReportFile is where a report is written.
	ReportFile = "report.html"
)

// Folder is a student's folder. It is for one goroutine.
type Folder struct {
	Dir      string
	Progress Progress
}

// ProgressSchema names the form of Progress in JSON.
const ProgressSchema = "lab.progress/1"

// Progress is what has been done in a folder.
type Progress struct {
	Schema   string            `json:"schema"`
	Lab      int               `json:"lab"`
	Lang     string            `json:"lang"`
	Started  time.Time         `json:"started"`
	Tries    int               `json:"tries"`
	Hints    int               `json:"hints"`             // how many were taken
	Solution bool              `json:"solution"`          // it was looked at
	Passed   *time.Time        `json:"passed,omitempty"`  // the first time
	Grades   []GradeLine       `json:"grades,omitempty"`  // the newest last
	Guesses  map[string]string `json:"guesses,omitempty"` // the first of each, as it was written
}

// GradeLine is one grading in short.
type GradeLine struct {
	At      time.Time       `json:"at"`
	Seed    uint64          `json:"seed"`
	Verdict referee.Verdict `json:"verdict"`
	Passed  int             `json:"passed"`
	Of      int             `json:"of"`
}

// maxGrades bounds the gradings that are remembered.
const maxGrades = 100

// maxState bounds what is read of a file under .lab.
const maxState = 64 << 20

func names(files fs.FS, dir string) []string {
	var all []string
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	return all
}

// Lay lays a folder for the exercise. It refuses to touch one that is not empty.
func Lay(lab *referee.Lab, lang, dir string) (*Folder, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is there already and not empty: go on in it, or see caller lab reset %d", dir, lab.Number)
	}
	f := &Folder{Dir: dir, Progress: Progress{Schema: ProgressSchema, Lab: lab.Number, Lang: lang, Started: time.Now().UTC().Truncate(time.Second)}}
	if err := f.lay(lab, lang); err != nil {
		return nil, err
	}
	return f, f.Save()
}

func (f *Folder) lay(lab *referee.Lab, lang string) error {
	language, ok := LanguageOf(lang)
	if !ok {
		return fmt.Errorf("there are no starters in %q: exercise %d has them in %s; any other language will do without: lay one of these and change the line in the file %q", lang, lab.Number, strings.Join(Langs(lab), ", "), referee.RunFile)
	}
	task, err := fs.ReadFile(lab.Files, "README.md")
	if err != nil {
		return err
	}
	files := map[string][]byte{TaskFile: task, referee.RunFile: []byte(language.Run + "\n")}
	if len(lab.Predict) > 0 {
		files[referee.PredictFile] = []byte(lab.PredictForm())
	}
	if lang == "go" {
		files["go.mod"] = []byte("module lab\n\ngo 1.26\n")
	}
	if err := collect(lab.Files, "starter/"+lang, files); err != nil {
		return fmt.Errorf("exercise %d has no starter in %s, but in %s; your own program can be in %s all the same: lay one of those and change the line in the file %q", lab.Number, lang, strings.Join(Langs(lab), ", "), lang, referee.RunFile)
	}
	return f.write(files)
}

// collect adds the files of a folder of the exercise.
func collect(files fs.FS, dir string, to map[string][]byte) error {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := fs.ReadFile(files, dir+"/"+e.Name())
		if err != nil {
			return err
		}
		to[e.Name()] = text
	}
	return nil
}

// Solution returns the files of the sealed solution in the language: programs
// and figures.
func Solution(lab *referee.Lab, lang string) (map[string][]byte, error) {
	files := map[string][]byte{}
	if err := collect(lab.Files, "solution/"+lang, files); err != nil {
		return nil, fmt.Errorf("exercise %d has no solution in %s", lab.Number, lang)
	}
	if err := collect(lab.Files, "solution", files); err != nil {
		return nil, err
	}
	return files, nil
}

func (f *Folder) write(files map[string][]byte) error {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(f.Dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ErrNone says that a folder holds no exercise.
var ErrNone = errors.New("holds no exercise")

// Open opens a folder that was laid before.
func Open(dir string) (*Folder, error) {
	text, err := handin.Read(dir, progressAt, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w", dir, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir}
	if err := json.Unmarshal(text, &f.Progress); err != nil || f.Progress.Schema != ProgressSchema {
		return nil, fmt.Errorf("%s is damaged: take it away, the rest of the folder is untouched", filepath.Join(dir, progressAt))
	}
	return f, nil
}

// Save writes the progress.
func (f *Folder) Save() error { return f.save(progressAt, f.Progress) }

func (f *Folder) save(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return handin.Write(f.Dir, name, append(text, '\n'))
}

// Note remembers a grading of every scenario, and keeps it for the report.
func (f *Folder) Note(g referee.Grade, whole bool) error {
	line := GradeLine{At: g.At.UTC().Truncate(time.Second), Seed: g.Seed, Verdict: g.Verdict, Of: len(g.Scenarios)}
	for _, s := range g.Scenarios {
		if s.Verdict == referee.Pass {
			line.Passed++
		}
	}
	if whole {
		f.Progress.Grades = append(f.Progress.Grades, line)
		if n := len(f.Progress.Grades); n > maxGrades {
			f.Progress.Grades = f.Progress.Grades[n-maxGrades:]
		}
		if g.Verdict == referee.Pass && f.Progress.Passed == nil {
			f.Progress.Passed = &line.At
		}
	} else {
		f.Progress.Tries++
	}
	return errors.Join(f.Save(), f.save(lastAt, g))
}

// Last returns the last grading.
func (f *Folder) Last() (referee.Grade, error) {
	var g referee.Grade
	text, err := handin.Read(f.Dir, lastAt, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return g, fmt.Errorf("nothing was run in %s yet: caller lab grade %d", f.Dir, f.Progress.Lab)
	}
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(text, &g); err != nil || g.Schema != referee.GradeSchema {
		return g, fmt.Errorf("%s is damaged: run caller lab grade %d again", filepath.Join(f.Dir, lastAt), f.Progress.Lab)
	}
	return g, nil
}
