package chainhop

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// It stands between the two sides and rests on them alone.
func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".", "chaoslab/budgetcaller", "chaoslab/budgetcaller/backoff", "chaoslab/budgetcaller/deadline", "chaoslab/faults")
}
