package skip

import (
	"os"
	"testing"
)

// Missing does nothing if err is nil. Else it skips the test with err as the reason,
// but in CI (CI=true), where .ci/run has installed everything, it fails it.
func Missing(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("missing in CI: %v", err)
	default:
		t.Skip(err)
	}
}
