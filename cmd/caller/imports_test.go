package main

import (
	"go/build"
	"regexp"
	"slices"
	"testing"
)

// TestImports holds what this command may not rest on: numbered labs are leaves,
// nobody imports them, and the other command is none of its business.
func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	forbidden := regexp.MustCompile(`^chaoslab/(labs/[0-9]|cmd/partner)`)
	for _, path := range slices.Concat(pkg.Imports, pkg.TestImports) {
		if forbidden.MatchString(path) {
			t.Errorf("imports %s", path)
		}
	}
}
