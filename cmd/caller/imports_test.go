package main

import (
	"go/build"
	"slices"
	"strings"
	"testing"
)

// TestImports holds what of the project this command may rest on. Numbered labs
// are leaves: nobody imports them.
func TestImports(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"chaoslab/budgetcaller", "chaoslab/budgetcaller/backoff", "chaoslab/budgetcaller/screen",
		"chaoslab/cmd/internal/cli", "chaoslab/cmd/internal/strictyaml",
		"chaoslab/faults", "chaoslab/faults/admin",
		"chaoslab/labs/deadlinechain", "chaoslab/labs/layers", "chaoslab/labs/sandbox",
	}
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Concat(pkg.Imports, pkg.TestImports) {
		if strings.HasPrefix(path, "chaoslab/") && !slices.Contains(allowed, path) {
			t.Errorf("imports %s, want only %v", path, allowed)
		}
	}
}
