package deadline_test

import (
	"go/build"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slack is how much later than exact a thing may be on a machine that is busy
// with other tests. It is less than what lies between 250 ms and the cap of 1 s,
// so that a test can tell the two apart.
const slack = 700 * time.Millisecond

// Partners and services use this package alone, so it needs nothing but the
// standard library. Its tests may make calls with the library around it.
func TestImports(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pkg.Imports {
		if first, _, _ := strings.Cut(path, "/"); first == "chaoslab" || strings.Contains(first, ".") {
			t.Errorf("imports %s, want the standard library only", path)
		}
	}
	if len(pkg.TestImports) > 0 {
		t.Errorf("tests inside the package import %q: keep them outside, so that they may use what imports it", pkg.TestImports)
	}
}
