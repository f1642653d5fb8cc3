package budgetcaller

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The library stays small: whoever imports it gets the standard library,
// golang.org/x/sys and the policies beside it: no command line, no metrics, and
// nothing of the partner.
func TestImports(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(path, "/")
			policy := slices.Contains([]string{"backoff", "breaker", "deadline", "throttle"}, strings.TrimPrefix(path, "chaoslab/budgetcaller/"))
			foreign := first == "chaoslab" || strings.Contains(first, ".") && !strings.HasPrefix(path, "golang.org/x/sys/")
			if foreign && !policy {
				t.Errorf("%s imports %s: only the standard library, golang.org/x/sys and the policies may be", name, path)
			}
			if path == "log" || path == "flag" || path == "net/http/httptrace" || path == "os" {
				t.Errorf("%s imports %s: a library is quiet and reads no environment", name, path)
			}
		}
	}
}
