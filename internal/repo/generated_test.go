package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaoslab/budgetcaller"
	"chaoslab/faults"
	"chaoslab/internal/chainhop"
)

// section is a part of the README that is made from the code. It stands between
// the lines <!-- NAME:begin --> and <!-- NAME:end -->.
type section struct {
	name string
	make func() string
}

func sections() []section {
	return []section{
		{"classes", classTable},
		{"faults", faults.Modes{}.With(chainhop.Fault()).MarkdownTable},
	}
}

func classTable() string {
	rows := [][]string{{"class", "when", "effect"}}
	for _, c := range budgetcaller.Classes() {
		rows = append(rows, []string{"`" + c.Class.String() + "`", c.When, c.Effect})
	}
	return markdownTable(rows)
}

// markdownTable writes rows as a table; the first is its head.
func markdownTable(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// Not parallel: with -update it writes the file that other tests read.
func TestREADMEHoldsWhatTheCodeSays(t *testing.T) {
	text := readFile(t, "README.md")
	for _, s := range sections() {
		before, got, after, err := cutSection(text, s.name)
		if err != nil {
			t.Fatalf("README.md: %v", err)
		}
		want := "\n" + s.make() + "\n"
		if got != want && !*update {
			t.Errorf("README.md: section %q is not what the code says; run: go test ./internal/repo -update\ngot:%swant:%s", s.name, got, want)
		}
		text = before + want + after
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cutSection cuts text into what stands before, between and after the two marks
// of section name; the marks go with the outer parts.
func cutSection(text, name string) (before, body, after string, err error) {
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->\n"
	if strings.Count(text, begin) != 1 || strings.Count(text, end) != 1 {
		return "", "", "", fmt.Errorf("want the lines %q and %q, once each", begin, end)
	}
	i, j := strings.Index(text, begin)+len(begin), strings.Index(text, end)
	if j < i {
		return "", "", "", fmt.Errorf("%q stands before %q", end, begin)
	}
	return text[:i], text[i:j], text[j:], nil
}

func TestCutSection(t *testing.T) {
	t.Parallel()
	const whole = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n"
	for _, c := range []struct {
		name, text, body string
		ok               bool
	}{
		{"whole", whole, "old\n", true},
		{"empty", "<!-- x:begin -->\n<!-- x:end -->\n", "", true},
		{"no begin", "<!-- x:end -->\n", "", false},
		{"no end", "<!-- x:begin -->\n", "", false},
		{"wrong order", "<!-- x:end -->\n<!-- x:begin -->\n", "", false},
		{"twice", whole + whole, "", false},
	} {
		before, body, after, err := cutSection(c.text, "x")
		if body != c.body || (err == nil) != c.ok || c.ok && before+body+after != c.text {
			t.Errorf("%s: cutSection(%q) = %q, %q, %q, %v, want body %q, ok %v", c.name, c.text, before, body, after, err, c.body, c.ok)
		}
	}
}
