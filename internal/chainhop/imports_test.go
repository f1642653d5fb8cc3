package chainhop

import (
	"go/build"
	"slices"
	"strings"
	"testing"
)

// It stands between the two sides and rests on them alone.
func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"chaoslab/budgetcaller", "chaoslab/budgetcaller/backoff", "chaoslab/budgetcaller/deadline", "chaoslab/faults"}
	for _, path := range pkg.Imports {
		if (strings.Contains(path, ".") || strings.HasPrefix(path, "chaoslab/")) && !slices.Contains(allowed, path) {
			t.Errorf("imports %q, want beside the standard library only %q", path, allowed)
		}
	}
}
