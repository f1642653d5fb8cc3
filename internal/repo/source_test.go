package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// No package changes anything when it is imported, and no wait ignores its
// context.
func TestNoInitAndNoSleepOutsideTests(t *testing.T) {
	t.Parallel()
	for _, f := range textFiles(t) {
		if f.isGo() && !f.isTest() && !strings.Contains(f.path, "testdata/") {
			report(t, initsAndSleeps(t, f))
		}
	}
}

func initsAndSleeps(t *testing.T, f file) []string {
	t.Helper()
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, f.path, f.text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				found = append(found, fmt.Sprintf("%s: func init: let whoever needs it call it", fset.Position(n.Pos())))
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && n.Sel.Name == "Sleep" {
				found = append(found, fmt.Sprintf("%s: time.Sleep: wait on a timer and the context", fset.Position(n.Pos())))
			}
		}
		return true
	})
	return found
}

func TestInitsAndSleeps(t *testing.T) {
	t.Parallel()
	src := "package x\n\nimport \"time\"\n\nfunc init() { time.Sleep(1) }\n\ntype y struct{}\n\nfunc (y) init() { time.After(1) }\n"
	if got := initsAndSleeps(t, file{"x.go", src}); len(got) != 2 {
		t.Errorf("initsAndSleeps(%q) = %q, want 2 findings", src, got)
	}
}
