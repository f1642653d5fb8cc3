package strictyaml

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read reads text into one of everything.
type all struct {
	name, need string
	limit      time.Duration
	tries      int
	share      float64
	list       []string
	free       map[string]string
}

func read(text string) (all, error) {
	a := all{free: map[string]string{}}
	root, err := Parse("f.yaml", []byte(text))
	if err != nil {
		return a, err
	}
	return a, root.Mapping("the file",
		Key{"name", func(n Node) error { return n.Text("name", &a.name) }},
		Key{"need", func(n Node) error { return n.Word("need", &a.need, "required", "optional") }},
		Key{"limit", func(n Node) error { return n.Duration("limit", &a.limit) }},
		Key{"tries", func(n Node) error { return n.Count("tries", &a.tries, 1, 9) }},
		Key{"share", func(n Node) error { return n.Share("share", &a.share) }},
		Key{"list", func(n Node) error {
			entries, err := n.List("list", 3)
			for _, e := range entries {
				var text string
				if err := e.Text("an entry", &text); err != nil {
					return err
				}
				a.list = append(a.list, text)
			}
			return err
		}},
		Key{"free", func(n Node) error {
			return n.Entries("free", func(key string, v Node) error {
				var text string
				err := v.Text(key, &text)
				a.free[key] = text
				return err
			})
		}},
	)
}

func TestReads(t *testing.T) {
	t.Parallel()
	got, err := read("# what it is\nname: a b\nneed: optional\nlimit: 300ms\ntries: 3\nshare: 99.9%\nlist: [x, 1, true]\nfree:\n  A-b: c\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.name != "a b" || got.need != "optional" || got.limit != 300*time.Millisecond || got.tries != 3 || got.share != 0.999 || strings.Join(got.list, " ") != "x 1 true" || got.free["A-b"] != "c" {
		t.Errorf("got %+v", got)
	}
	if got, err = read("name: |\n  two\n  lines\n"); err != nil || got.name != "two\nlines\n" {
		t.Errorf("got %q, %v", got.name, err)
	}
	if got, err = read("\ufeffname: a\nneed: optional\n"); err != nil || got.name != "a" || got.need != "optional" {
		t.Errorf("behind a byte order mark: got %+v, %v", got, err)
	}
	if got, err = read("share: 0.5"); err != nil || got.share != 0.5 {
		t.Errorf("got %v, %v", got.share, err)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	const keys = "name, need, limit, tries, share, list, free"
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "f.yaml:1: not one YAML document but 0"},
		{"a comment", "# nothing\n", "f.yaml:1: not one YAML document but"},
		{"a byte order mark alone", "\ufeff", "f.yaml:1: not one YAML document but 0"},
		{"two byte order marks", "\ufeff\ufeffname: a\n", "f.yaml:1: "},
		{"UTF-16", "\xff\xfen\x00:\x00 \x00a\x00", "f.yaml:1: this is UTF-16: only UTF-8 is read"},
		{"UTF-16 the other way round", "\xfe\xff\x00n\x00:\x00 \x00a", "f.yaml:1: this is UTF-16: only UTF-8 is read"},
		{"two documents", "name: a\n---\nname: b\n", "f.yaml:1: not one YAML document but 2"},
		{"no YAML", "name: [a\n", "f.yaml:1: this is not YAML: "},
		{"no mapping", "- a\n", "f.yaml:1: the file is written as lines of key: value, with the keys " + keys},
		{"unknown key", "name: a\nnmae: b\n", `f.yaml:2: unknown key "nmae" in the file: one of ` + keys},
		{"a key twice", "name: a\n\nname: b\n", "f.yaml:3: "},
		{"a free key twice", "free:\n  a: b\n  a: c\n", "f.yaml:3: "},
		{"empty", "name: ''\n", "f.yaml:1: name is empty"},
		{"null", "name:\n", "f.yaml:1: name is one plain value"},
		{"no plain value", "name: {a: b}\n", "f.yaml:1: name is one plain value"},
		{"an alias", "name: &x a\nneed: *x\n", "f.yaml:1: name is one plain value"},
		{"a word", "need: maybe\n", `f.yaml:1: need: "maybe" is none of required, optional`},
		{"no unit", "name: a\nlimit: 5\n", `f.yaml:2: limit: "5" has no unit: write 5ms or 5s`},
		{"zero", "limit: 0s\n", `f.yaml:1: limit: "0s" is refused`},
		{"too many", "tries: 10\n", `f.yaml:1: tries: "10" is out of range: a whole number from 1 to 9`},
		{"no number", "tries: x\n", `f.yaml:1: tries: "x" is out of range`},
		{"share", "share: 101%\n", `f.yaml:1: share: "101%" is out of range`},
		{"no share", "share: .nan\n", "f.yaml:1: share"},
		{"no list", "list: a\n", "f.yaml:1: list is a list: each entry on a line with a dash"},
		{"an empty list", "list: []\n", "f.yaml:1: list has 0 entries: from 1 to 3"},
		{"a long list", "list: [1, 2, 3, 4]\n", "f.yaml:1: list has 4 entries: from 1 to 3"},
		{"free is none", "free: a\n", "f.yaml:1: free is written as lines of key: value"},
		{"deep", "\n" + strings.Repeat("[", 60_000), "f.yaml:2: more than 32 values inside each other"},
		{"deep entries", strings.Repeat("- ", 30_000), "f.yaml:1: more than 32 values inside each other"},
		{"long", strings.Repeat("#", MaxSize+1), "f.yaml: longer than 64 KiB"},
	} {
		_, err := read(tt.text)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %.60q: got %v, want %q", tt.name, tt.text, err, tt.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.yaml")
	if _, err := Read(path); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("#", MaxSize+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long file: %v", err)
	}
	if err := os.WriteFile(path, []byte("a: {b: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := Read(path)
	if v, ok := n.Value("a"); err != nil || !n.IsMapping() || !n.Has("a") || n.Has("b") || !ok || !v.Has("b") {
		t.Errorf("%+v, %v", n, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"name: a\n", "list: [1, {a: b}]\n", "&a [*a]\n", "? a\n: b\n", "a: |\n b\n", "%YAML 1.2\n---\n", "- - -\n", "a: !!x y\n", "\t", "a: 'b", "{\"a\": 1}", "\ufeffname: a\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, err := read(s)
		if err != nil && !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("%q: error %q does not begin with the file", s, err)
		}
	})
}
