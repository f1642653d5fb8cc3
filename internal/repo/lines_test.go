package repo

import (
	"fmt"
	"strings"
	"testing"
)

const (
	fullFile = 300 // a file has at most so many lines
	mostFile = 400 // and never more, whatever the reason
)

// longFiles are those that may have up to mostFile lines, each with its reason.
func longFiles() map[string]string {
	return map[string]string{}
}

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	report(t, tooLong(textFiles(t), longFiles()))
}

// tooLong names the Go files and scripts that are longer than they may be.
func tooLong(files []file, allowed map[string]string) []string {
	var found []string
	for _, f := range files {
		if !f.isGo() && !f.isShell() {
			continue
		}
		n, reason := f.lines(), allowed[f.path]
		switch {
		case n > mostFile:
			found = append(found, fmt.Sprintf("%s has %d lines, at most %d: split it by concept", f.path, n, mostFile))
		case n > fullFile && reason == "":
			found = append(found, fmt.Sprintf("%s has %d lines, at most %d: split it by concept, or give the reason in longFiles", f.path, n, fullFile))
		case n <= fullFile && reason != "":
			found = append(found, fmt.Sprintf("%s has %d lines: take it out of longFiles", f.path, n))
		}
	}
	return found
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{"long.go": "a table"}
	for _, c := range []struct {
		name, path string
		lines      int
		found      bool
	}{
		{"full", "a.go", 300, false},
		{"one too many", "a.go", 301, true},
		{"with a reason", "long.go", 400, false},
		{"beyond any reason", "long.go", 401, true},
		{"reason no longer needed", "long.go", 300, true},
		{"no program", "data.txt", 1000, false},
		{"script", "a.sh", 301, true},
	} {
		got := tooLong([]file{{c.path, strings.Repeat("x\n", c.lines)}}, allowed)
		if (len(got) > 0) != c.found {
			t.Errorf("%s: tooLong(%s with %d lines) = %q, want a finding: %v", c.name, c.path, c.lines, got, c.found)
		}
	}
}
