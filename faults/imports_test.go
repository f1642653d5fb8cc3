package faults

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// TestImports holds what this package may rest on: of the caller's side only the
// two headers in which a deadline is passed down.
func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".", "chaoslab/budgetcaller/deadline", "golang.org/x/sys/unix", "golang.org/x/time/rate")
}
