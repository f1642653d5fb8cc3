package budgetcaller

import (
	"testing"

	"chaoslab/internal/importcheck"
)

// The library stays small: whoever imports it gets the standard library,
// golang.org/x/sys and the policies beside it: no command line, no metrics, and
// nothing of the partner.
func TestImports(t *testing.T) {
	t.Parallel()
	const own = "chaoslab/budgetcaller/"
	importcheck.Only(t, ".", own+"backoff", own+"breaker", own+"deadline", own+"throttle", "golang.org/x/sys/unix")
	for _, path := range importcheck.Of(t, ".") {
		if path == "log" || path == "flag" || path == "net/http/httptrace" || path == "os" {
			t.Errorf("imports %s: a library is quiet and reads no environment", path)
		}
	}
}
