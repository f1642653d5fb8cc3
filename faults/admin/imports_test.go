package admin

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// TestImports holds what this package may rest on.
func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".", "chaoslab/faults", "github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_golang/prometheus/promhttp")
}
