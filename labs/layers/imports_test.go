package layers

import (
	"go/build"
	"slices"
	"strings"
	"testing"
)

// Arithmetic needs no network: of the project the package rests on the formula
// of the backoff only.
func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"chaoslab/budgetcaller/backoff"}
	for _, path := range pkg.Imports {
		own, net := strings.HasPrefix(path, "chaoslab/"), path == "net" || strings.HasPrefix(path, "net/")
		if net || own && !slices.Contains(allowed, path) {
			t.Errorf("imports %q, want of the project only %q, and no network", path, allowed)
		}
	}
}
