package referee

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// TestImports holds what this package may rest on: the partner it judges by, and
// never the caller's side, which the students build.
func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".", "chaoslab/faults", "chaoslab/labs/referee/confine", "chaoslab/labs/referee/handin", "chaoslab/labs/sandbox", "github.com/goccy/go-yaml", "golang.org/x/sys/unix")
}
