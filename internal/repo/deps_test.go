package repo

import (
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"testing"
)

// reason matches a row of CONTRIBUTING.md's tables of dependencies: the module's
// or tool's path and, in the last cell, why it is there.
var reason = regexp.MustCompile("(?m)^\\| `([\\w.-]+\\.[\\w.-]+/[^`]+)` \\|.*\\| *([^| ]+[^|]*)\\|$")

func TestEveryDependencyHasItsReason(t *testing.T) {
	t.Parallel()
	needed, known := map[string]bool{}, map[string]bool{}
	for _, r := range readModFile(t, "go.mod").Require {
		needed[r.Path] = needed[r.Path] || !r.Indirect
		known[r.Path] = true
	}
	for _, tool := range readModFile(t, "scripts/tools/go.mod").Tool {
		needed[tool.Path], known[tool.Path] = true, true
	}
	report(t, withoutReason(needed, known, readFile(t, "CONTRIBUTING.md")))
}

// withoutReason compares the dependencies with what CONTRIBUTING.md says: every
// needed one has a row, and no row is about one that is not known.
func withoutReason(needed, known map[string]bool, contributing string) []string {
	rows := map[string]bool{}
	var found []string
	for _, m := range reason.FindAllStringSubmatch(contributing, -1) {
		rows[m[1]] = true
		if !known[m[1]] {
			found = append(found, fmt.Sprintf("CONTRIBUTING.md gives a reason for %s, which is no dependency: take the row out", m[1]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(needed)) {
		if needed[path] && !rows[path] {
			found = append(found, fmt.Sprintf("CONTRIBUTING.md does not say why %s is there: add a row to its table", path))
		}
	}
	return found
}

// A first look at the project fetches and builds no database.
func TestNoDatabaseWithoutTheQueue(t *testing.T) {
	t.Parallel()
	drivers := regexp.MustCompile(`(?m)^(modernc\.org|github\.com/jackc)/.*$`)
	for _, c := range []struct {
		tags string
		some bool
	}{
		{"", true},
		{"noqueue", false},
	} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", c.tags, "./cmd/caller", "./cmd/partner")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		if got := drivers.FindAllString(string(out), -1); (len(got) > 0) != c.some {
			t.Errorf("with -tags %q the commands rest on %q, want some: %v", c.tags, got, c.some)
		}
	}
}

func TestWithoutReason(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"example.com/a": true, "example.com/b": true}
	for _, c := range []struct {
		name, text string
		found      int
	}{
		{"both", "| `example.com/a` | x | why |\n| `example.com/b` | x | why |\n", 0},
		{"one missing", "| `example.com/b` | x | why |\n", 1},
		{"not needed, but there", "| `example.com/a` | x | why |\n", 0},
		{"empty reason", "| `example.com/a` | x | |\n", 1},
		{"only in prose", "`example.com/a` is used\n", 1},
		{"gone", "| `example.com/a` | x | why |\n| `example.com/c` | x | why |\n", 1},
	} {
		got := withoutReason(map[string]bool{"example.com/a": true, "example.com/b": false}, known, c.text)
		if len(got) != c.found {
			t.Errorf("%s: withoutReason(%q) = %q, want %d findings", c.name, c.text, got, c.found)
		}
	}
}
