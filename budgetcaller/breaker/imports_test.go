package breaker

import (
	"go/build"
	"slices"
	"testing"
)

// The package is for anyone to import, so it rests on nothing: neither the
// project nor the network nor a clock that has to be replaced in tests.
func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"errors", "fmt", "sync", "sync/atomic", "time"}
	for _, path := range pkg.Imports {
		if !slices.Contains(allowed, path) {
			t.Errorf("imports %q, want only %q", path, allowed)
		}
	}
}
