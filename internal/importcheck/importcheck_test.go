package importcheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"chaoslab/internal/importcheck"
)

// noted is a test that notes what it is told instead of failing.
type noted struct {
	testing.TB
	errors []string
}

func (*noted) Helper() {}

func (n *noted) Errorf(format string, args ...any) {
	n.errors = append(n.errors, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go":         "package a\nimport (\n\"net/http\"\n\"chaoslab/faults\"\n)\n",
		"a_windows.go": "package a\nimport \"golang.org/x/sys/windows\"\n",
		"a_test.go":    "package a\nimport \"example.com/only/in/tests\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := importcheck.Of(t, dir), []string{"chaoslab/faults", "golang.org/x/sys/windows", "net/http"}; !slices.Equal(got, want) {
		t.Errorf("Of: got %q, want %q", got, want)
	}
	for _, c := range []struct {
		name    string
		check   func(testing.TB, string, ...string)
		allowed []string
		errors  int
	}{
		{"all named", importcheck.Only, []string{"chaoslab/faults", "golang.org/x/sys/windows"}, 0},
		{"own one not named", importcheck.Only, []string{"golang.org/x/sys/windows"}, 1},
		{"none named", importcheck.Only, nil, 2},
		{"nothing: the standard library counts", importcheck.Nothing, []string{"chaoslab/faults", "golang.org/x/sys/windows"}, 1},
		{"nothing: all named", importcheck.Nothing, []string{"chaoslab/faults", "golang.org/x/sys/windows", "net/http"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &noted{TB: t}
			if c.check(n, dir, c.allowed...); len(n.errors) != c.errors {
				t.Errorf("got %d errors %q, want %d", len(n.errors), n.errors, c.errors)
			}
		})
	}
}
