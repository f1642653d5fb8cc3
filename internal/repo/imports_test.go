package repo

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of the project's own module.
const module = "chaoslab"

// graph says what each package of the project imports, by its directory from
// the root, over the files of every system.
type graph map[string]imports

type imports struct{ code, tests map[string]bool }

func importGraph(t *testing.T, files []file) graph {
	t.Helper()
	g := graph{}
	for _, f := range files {
		if !f.isGo() || strings.Contains(f.path, "testdata/") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(f.path)
		if _, ok := g[dir]; !ok {
			g[dir] = imports{code: map[string]bool{}, tests: map[string]bool{}}
		}
		of := g[dir].code
		if f.isTest() {
			of = g[dir].tests
		}
		for _, spec := range syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", f.path, err)
			}
			of[imported] = true
		}
	}
	return g
}

// reach returns what package dir imports, tests too, and what that imports in
// turn within the project, each with the chain of packages that leads to it.
func (g graph) reach(dir string) map[string]string {
	seen := map[string]string{}
	var walk func(paths map[string]bool, chain string)
	walk = func(paths map[string]bool, chain string) {
		for _, imported := range slices.Sorted(maps.Keys(paths)) {
			if _, done := seen[imported]; done || imported == module+"/"+dir { // a test may import its own package
				continue
			}
			seen[imported] = chain + " -> " + imported
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				walk(g[own].code, seen[imported])
			}
		}
	}
	walk(g[dir].code, dir)
	walk(g[dir].tests, dir+" (its tests)")
	return seen
}

// rule forbids packages to import what matches, also through other packages of
// the project.
type rule struct {
	name      string
	from      *regexp.Regexp // packages it binds, by directory from the root
	forbidden *regexp.Regexp // import paths they must not reach
	allowed   string         // but for this one
}

// importRules are the project's. The two headers in which a deadline is passed
// down are neither side's: both read them, in one package that rests on nothing.
func importRules() []rule {
	re := regexp.MustCompile
	return []rule{
		{"faults never imports budgetcaller", re(`^faults(/|$)`), re(`^chaoslab/budgetcaller(/|$)`), module + "/budgetcaller/deadline"},
		{"budgetcaller never imports faults", re(`^budgetcaller(/|$)`), re(`^chaoslab/faults(/|$)`), ""},
		{"cobra only under cmd/", re(`^(budgetcaller|faults|labs|internal|scripts)(/|$)`), re(`^github\.com/spf13/`), ""},
		{"client_golang never in budgetcaller itself", re(`^budgetcaller$`), re(`^github\.com/prometheus/`), ""},
		{"numbered labs are imported by nobody", re(``), re(`^chaoslab/labs/[0-9]`), ""},
		{"internal/repo is imported by nobody", re(``), re(`^chaoslab/internal/repo$`), ""},
	}
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	g := importGraph(t, textFiles(t))
	for _, dir := range []string{"budgetcaller", "faults", "cmd/internal/cli"} {
		if _, ok := g[dir]; !ok {
			t.Errorf("no package %s: the rules below would hold nothing", dir)
		}
	}
	report(t, broken(g, importRules()))
}

func broken(g graph, rules []rule) []string {
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(g)) {
		reached := g.reach(dir)
		for _, r := range rules {
			if !r.from.MatchString(dir) {
				continue
			}
			for _, imported := range slices.Sorted(maps.Keys(reached)) {
				if r.forbidden.MatchString(imported) && imported != r.allowed {
					found = append(found, fmt.Sprintf("%s: %s", r.name, reached[imported]))
				}
			}
		}
	}
	return found
}

func TestBrokenImportRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, imported, want string }{
		{"straight", "faults", "chaoslab/budgetcaller", "faults never imports budgetcaller: faults -> chaoslab/budgetcaller"},
		{"back", "budgetcaller/prom", "chaoslab/faults/admin", "budgetcaller never imports faults: budgetcaller/prom -> chaoslab/faults/admin"},
		{"through another", "faults", "chaoslab/labs/x", "faults never imports budgetcaller: faults -> chaoslab/labs/x -> chaoslab/budgetcaller"},
		{"the two headers", "faults", "chaoslab/budgetcaller/deadline", ""},
		{"more than the headers", "faults", "chaoslab/budgetcaller/deadline/x", "faults never imports budgetcaller: faults -> chaoslab/budgetcaller/deadline/x"},
		{"another's tests", "faults", "chaoslab/labs/y", ""},
		{"cobra in a library", "labs/referee", "github.com/spf13/pflag", "cobra only under cmd/: labs/referee -> github.com/spf13/pflag"},
		{"cobra in a command", "cmd/caller", "github.com/spf13/cobra", ""},
		{"metrics in the core", "budgetcaller", "github.com/prometheus/client_golang/prometheus", "client_golang never in budgetcaller itself: budgetcaller -> github.com/prometheus/client_golang/prometheus"},
		{"metrics beside it", "budgetcaller/prom", "github.com/prometheus/client_golang/prometheus", ""},
		{"a numbered lab", "cmd/caller", "chaoslab/labs/01-first", "numbered labs are imported by nobody: cmd/caller -> chaoslab/labs/01-first"},
		{"a lab's own test", "labs/01-first", "chaoslab/labs/01-first", ""},
		{"a lab's library", "cmd/caller", "chaoslab/labs/layers", ""},
	} {
		g := graph{
			c.from:   {code: map[string]bool{c.imported: true}},
			"labs/x": {code: map[string]bool{"chaoslab/budgetcaller": true}},
			"labs/y": {tests: map[string]bool{"chaoslab/budgetcaller": true}},
		}
		if got := strings.Join(broken(g, importRules()), "\n"); got != c.want {
			t.Errorf("%s: %s imports %s: got %q, want %q", c.name, c.from, c.imported, got, c.want)
		}
	}
}
