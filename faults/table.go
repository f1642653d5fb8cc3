package faults

import (
	"fmt"
	"strings"
)

// MarkdownTable returns the table of all faults for the README.
func MarkdownTable() string { return Modes{}.MarkdownTable() }

// MarkdownTable returns the table of all faults for the README.
func (m Modes) MarkdownTable() string {
	var b strings.Builder
	b.WriteString("| mode | what the partner does | effect happens | parameters (default) |\n|---|---|---|---|\n")
	for _, f := range m.All() {
		params := make([]string, len(f.Params))
		for i, p := range f.Params {
			params[i] = fmt.Sprintf("`%s` (%s)", p.Name, p.Default)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Summary, f.Effect, strings.Join(params, ", "))
	}
	return b.String()
}
