package repo

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "renew the generated parts of README.md")

// root is the folder that holds go.mod, seen from this package's folder, where
// go test runs its tests.
const root = "../.."

// file is one text file of the project.
type file struct {
	path string // from the root, with slashes
	text string
}

func (f file) isGo() bool   { return strings.HasSuffix(f.path, ".go") }
func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }
func (f file) isShell() bool {
	first, _, _ := strings.Cut(f.text, "\n")
	return strings.HasSuffix(f.path, ".sh") || strings.HasPrefix(first, "#!") && strings.HasSuffix(first, "sh")
}

// lines returns how many lines f has.
func (f file) lines() int {
	return strings.Count(strings.TrimSuffix(f.text, "\n"), "\n") + 1
}

// textFiles returns every text file in the project's folders: read from the
// disk and not asked of git, so that a download without git is checked too and
// go test's cache knows which files the verdict rests on.
func textFiles(t *testing.T) []file {
	t.Helper()
	var files []file
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if hidden := len(path) > 1 && d.Name()[0] == '.'; hidden && path != ".ci" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		if head := text[:min(len(text), 8000)]; !bytes.ContainsRune(head, 0) { // no binary
			files = append(files, file{path, string(text)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f file) bool { return f.path == "go.mod" }) {
		t.Fatalf("no go.mod among the %d files in %s: this test does not see the project", len(files), root)
	}
	return files
}

// readFile returns the text of one file, its path from the root.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// modFile is what "go mod edit -json" says of a go.mod file.
type modFile struct {
	Require []struct {
		Path     string
		Indirect bool
	}
	Tool []struct{ Path string }
}

func readModFile(t *testing.T, path string) modFile {
	t.Helper()
	readFile(t, path) // for go test's cache, which does not see what a child reads
	cmd := exec.Command("go", "mod", "edit", "-json", path)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	var m modFile
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return m
}

// report fails the test with every finding, one a line, or does nothing.
func report(t *testing.T, findings []string) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}
