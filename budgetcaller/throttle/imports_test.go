package throttle

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// The package is for anyone to import, so it rests on nothing: neither the
// project nor the network nor a clock that has to be replaced in tests.
func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Nothing(t, ".", "errors", "fmt", "sync", "time")
}
