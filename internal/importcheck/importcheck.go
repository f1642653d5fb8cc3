package importcheck

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Only fails t if the package in dir imports, beside the standard library, what
// is not among allowed.
func Only(t testing.TB, dir string, allowed ...string) {
	t.Helper()
	for _, path := range Of(t, dir) {
		if !standard(path) && !slices.Contains(allowed, path) {
			t.Errorf("%s imports %s, want beside the standard library only %q", dir, path, allowed)
		}
	}
}

// Nothing fails t if the package in dir imports what is not among allowed, which
// names the packages of the standard library too.
func Nothing(t testing.TB, dir string, allowed ...string) {
	t.Helper()
	for _, path := range Of(t, dir) {
		if !slices.Contains(allowed, path) {
			t.Errorf("%s imports %s, want only %q", dir, path, allowed)
		}
	}
}

// Of returns what the package in dir imports, its tests left out, in order.
func Of(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	read := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		read++
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			paths = append(paths, path)
		}
	}
	if read == 0 {
		t.Fatalf("%s: no Go files", dir)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// standard tells whether path is one of the standard library: the first element
// of all others has a dot, and that of this project is its name.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "chaoslab" && !strings.Contains(first, ".")
}
