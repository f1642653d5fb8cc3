package realchain

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// It brings the two sides and the simulator together and rests on them alone.
func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".", "chaoslab/budgetcaller", "chaoslab/faults", "chaoslab/internal/chainhop", "chaoslab/labs/deadlinechain")
}
