package skip

import (
	"errors"
	"fmt"
	"testing"

	"chaoslab/internal/importcheck"
)

func TestImports(t *testing.T) {
	t.Parallel()
	importcheck.Only(t, ".")
}

// told is a testing.TB that goes on after it was told to stop, and keeps what it was
// told.
type told struct {
	testing.TB
	what string
}

func (r *told) Helper()                        {}
func (r *told) Skip(args ...any)               { r.what = "skipped: " + fmt.Sprint(args...) }
func (r *told) Fatalf(format string, a ...any) { r.what = "failed: " + fmt.Sprintf(format, a...) }

// Not parallel: it sets the environment.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name, ci string
		err      error
		want     string
	}{
		{"there", "", nil, ""},
		{"there, in CI", "true", nil, ""},
		{"not there", "", errors.New("no curl"), "skipped: no curl"},
		{"not there, and CI is said to be off", "false", errors.New("no curl"), "skipped: no curl"},
		{"not there, in CI", "true", errors.New("no curl"), "failed: missing in CI: no curl"},
	} {
		t.Setenv("CI", c.ci)
		r := &told{TB: t}
		Missing(r, c.err)
		if r.what != c.want {
			t.Errorf("%s: CI=%s, %v: got %q, want %q", c.name, c.ci, c.err, r.what, c.want)
		}
	}
}
