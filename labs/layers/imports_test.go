package layers

import (
	"strings"
	"testing"

	"chaoslab/internal/importcheck"
)

// Arithmetic needs no network: of the project the package rests on the formula
// of the backoff only.
func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".", "chaoslab/budgetcaller/backoff")
	for _, path := range importcheck.Of(t, ".") {
		if path == "net" || strings.HasPrefix(path, "net/") {
			t.Errorf("imports %s: no network", path)
		}
	}
}
