package sandbox

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The kernel's documentation gives 127 s for 6 retransmissions, and for linear
// timeouts the row 1, 1, 1, 1, 1, 2, 4, …
func TestGiveUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		retries, linear int
		want            time.Duration
	}{
		{1, 0, 3 * time.Second},
		{2, 0, 7 * time.Second},
		{6, 0, 127 * time.Second},
		{7, 0, 247 * time.Second},
		{1, 4, 3 * time.Second},
		{2, 4, 7 * time.Second},
		{3, 4, 19 * time.Second},
		{6, 4, 131 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d,%d", c.retries, c.linear), func(t *testing.T) {
			t.Parallel()
			if got := giveUp(c.retries, c.linear); got != c.want {
				t.Errorf("giveUp(%d, %d) = %v, want %v", c.retries, c.linear, got, c.want)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for n, ok := range map[int]bool{-1: false, 0: true, 1: true, 127: true, 128: false} {
		if err := (Options{SynRetries: n}).check(); (err == nil) != ok {
			t.Errorf("SynRetries %d: %v, want ok %v", n, err, ok)
		}
	}
}

// Not parallel: it sets the environment.
func TestOutsideIsNotInside(t *testing.T) {
	t.Setenv(EnvVar, BlackHole().String())
	if Inside() {
		t.Errorf("Inside() with %s set, and no interface %s: true, want false", EnvVar, nearName)
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	allowed := []string{"github.com/vishvananda/netlink", "golang.org/x/sys/unix"}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(path, "/")
			standard := !strings.Contains(first, ".") && first != "chaoslab"
			if !standard && !strings.Contains(strings.Join(allowed, " "), path) {
				t.Errorf("%s imports %s; allowed are the standard library and %q", e.Name(), path, allowed)
			}
		}
	}
}
