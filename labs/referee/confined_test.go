//go:build linux

package referee

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaoslab/labs/referee/confine"
)

// TestConfined holds that a program can write where it needs to and nowhere else,
// and that what it was refused is told.
func TestConfined(t *testing.T) {
	t.Parallel()
	if err := confine.Available(); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, script string
		word         string // that it comes to say
		refused      bool
	}{
		{"its folder", "echo x >new && echo done", "done", false},
		{"for passing things", `echo x >"$TMPDIR/new" && echo x >"$LAB_DIR/new" && echo done`, "done", false},
		{"nothing", "echo x >/dev/null && echo x >/dev/stderr && echo done", "done", false},
		{"beside its folder", "echo x >../new || echo refused", "refused", true},
		{"by its full path", `echo x >"${PWD%/*}/new" || echo refused`, "refused", true},
		{"a child's", `sh -c 'echo x >../new' || echo refused`, "refused", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lab := testLab(t, "      - {check: said, word: "+c.word+"}\n")
			p := prepare(t, c.script+"\n")
			g, err := Run(t.Context(), lab, p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if scenario, bad := g.FirstBad(); bad != nil || !g.Confined {
				t.Errorf("%q: confined %v, %s: %+v; want it confined, and a pass", c.script, g.Confined, scenario, bad)
			}
			if seen := g.Scenarios[0].Seen.Refused; (seen != "") != c.refused || c.refused && !strings.Contains(seen, "ermission denied") {
				t.Errorf("%q: refused %q, want %v", c.script, seen, c.refused)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(p.dir), "new")); err == nil {
				t.Errorf("%q: the file outside is there", c.script)
			}
		})
	}
}

func TestCaches(t *testing.T) {
	t.Parallel()
	got := caches([]string{"HOME=/h", "GOCACHE=/c", "GOMODCACHE=off", "GOPATH=/a:/b", "PATH=/bin"})
	for _, want := range []string{"/c", "/a/pkg/mod", "/b/pkg/mod", "/h/.cache"} {
		found := false
		for _, path := range got {
			found = found || path == want
			if !filepath.IsAbs(path) || path == "/h" || path == "/bin" {
				t.Errorf("caches: %q may be written", path)
			}
		}
		if !found {
			t.Errorf("caches: %v, want %s too", got, want)
		}
	}
}

// TestBuildIsConfined holds that what a folder makes of the compiler can write no
// more than the program itself, and leaves nothing behind.
func TestBuildIsConfined(t *testing.T) {
	t.Parallel()
	if err := confine.Available(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module lab\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { println(\"ok\") }\n",
		"tool.sh": "#!/bin/sh\necho x >../new && exit 9\nsetsid sleep 60 >/dev/null 2>&1 &\nexec \"$@\"\n",
		RunFile:   "go run -toolexec " + filepath.Join(dir, "tool.sh") + " .\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Prepare(t.Context(), ProgramConfig{Dir: dir, Env: os.Environ(), Confine: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "new")); err == nil {
		t.Error("the file outside is there")
	}
	stillThere(t, p)
}

// TestMakeCaches: a confined compiler can write in a folder, but not make it.
func TestMakeCaches(t *testing.T) {
	t.Parallel()
	cache := filepath.Join(t.TempDir(), "made", "here")
	p := &Program{dir: t.TempDir(), env: []string{"GOCACHE=" + cache}}
	if err := p.makeCaches(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(cache); err != nil || !info.IsDir() {
		t.Errorf("%s: %v, want a folder", cache, err)
	}
}

func TestGoCaches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, env string
		fetches   bool
		want      string
	}{
		{"by itself", "HOME=/h", false, "/h/.cache/go-build"},
		{"with modules", "HOME=/h", true, "/h/.cache/go-build /h/go/pkg/mod"},
		{"told", "HOME=/h GOCACHE=/c GOPATH=/a:/b", true, "/c /a/pkg/mod"},
		{"told both", "GOMODCACHE=/m XDG_CACHE_HOME=/x GOPATH=/a", true, "/x/go-build /m"},
		{"off", "GOCACHE=off", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(goCaches(strings.Fields(c.env), c.fetches), " "); got != c.want {
				t.Errorf("goCaches(%q, %v) = %q, want %q", c.env, c.fetches, got, c.want)
			}
		})
	}
}
