package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"chaoslab/labs/referee"
)

func lab() *referee.Lab {
	return &referee.Lab{
		Number: 3, Name: "x", Title: "x", Predict: []referee.Question{{Key: "k", Ask: "how long?"}},
		Files: fstest.MapFS{
			"README.md":               {Data: []byte("task")},
			"starter/go/main.go":      {Data: []byte("package main")},
			"starter/python/main.py":  {Data: []byte("starter")},
			"solution/python/main.py": {Data: []byte("solution")},
			"solution/predict.txt":    {Data: []byte("k = 1")},
		},
	}
}

func TestLayAndProgress(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "three")
	if _, err := Open(dir); !errors.Is(err, ErrNone) {
		t.Errorf("Open of nothing: %v, want %v", err, ErrNone)
	}
	if _, err := Lay(lab(), "cobol", dir); err == nil || !strings.Contains(err.Error(), "in go, python") {
		t.Errorf("Lay in cobol: %v", err)
	}
	f, err := Lay(lab(), "python", dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lay(lab(), "python", dir); err == nil {
		t.Error("Lay over a folder that is there: no error")
	}
	if _, err := f.Last(); err == nil {
		t.Error("Last before any run: no error")
	}
	g := referee.Grade{Schema: referee.GradeSchema, Lab: 3, Seed: 9, Verdict: referee.Pass, Scenarios: []referee.Result{{Name: "s", Verdict: referee.Pass}}}
	if err := f.Note(g, true); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again.Progress.Passed == nil || len(again.Progress.Grades) != 1 || again.Progress.Grades[0].Passed != 1 {
		t.Errorf("progress: %+v, want one grading passed", again.Progress)
	}
	if last, err := again.Last(); err != nil || last.Seed != 9 {
		t.Errorf("Last: %+v, %v, want seed 9", last, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.py"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	aside, err := again.Reset(lab())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(aside, "main.py"):        "mine",
		filepath.Join(dir, "main.py"):          "starter",
		filepath.Join(dir, TaskFile):           "task",
		filepath.Join(dir, referee.RunFile):    "python3 main.py\n",
		filepath.Join(dir, ".lab/nothing.txt"): "",
	} {
		text, err := os.ReadFile(path)
		if string(text) != want {
			t.Errorf("%s: %q, %v, want %q", path, text, err, want)
		}
	}
}

func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".lab"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", "[]", `{"schema":"other/1"}`} {
		if err := os.WriteFile(filepath.Join(dir, progressAt), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("Open with %q: %v, want that it is damaged", text, err)
		}
	}
}

func TestSolution(t *testing.T) {
	t.Parallel()
	files, err := Solution(lab(), "python")
	if err != nil || string(files["main.py"]) != "solution" || string(files["predict.txt"]) != "k = 1" {
		t.Errorf("Solution: %q, %v", files, err)
	}
	if _, err := Solution(lab(), "go"); err == nil {
		t.Error("Solution in go: no error")
	}
}
