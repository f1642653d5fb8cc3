package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"chaoslab/budgetcaller"
	"chaoslab/cmd/internal/cli"
)

// explainOptions is what the flags of explain say.
type explainOptions struct {
	class  budgetcaller.Class // ClassNone: all of them
	format cli.Choice
}

func newExplain(s cli.Streams) *cobra.Command {
	o := &explainOptions{format: cli.Format("table", "json")}
	cmd := &cobra.Command{
		Use:   "explain [CLASS]",
		Short: "what a class means, what it says about the effect, what to do",
		Long: `explain says of a class when a result gets it, whether the partner may have
carried out what was asked, and what to do about it. Without a class it lists
them all.`,
		Example: `  caller explain
  caller explain read_timeout
  caller explain --format json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				var err error
				if o.class, err = parseClass(args[0]); err != nil {
					return cli.Usagef("%w", err)
				}
			}
			return runExplain(o, s.Out)
		},
	}
	cmd.Flags().Var(&o.format, "format", "how it is printed")
	return cmd
}

// explainSchema names the form of an explanation's JSON line.
const explainSchema = "caller.class/1"

type classLine struct {
	Schema string             `json:"schema"`
	Class  budgetcaller.Class `json:"class"`
	When   string             `json:"when"`
	Effect string             `json:"effect"`
	Do     string             `json:"do"`
}

func runExplain(o *explainOptions, out io.Writer) error {
	infos := budgetcaller.Classes()
	if o.class != budgetcaller.ClassNone {
		for _, info := range infos {
			if info.Class == o.class {
				infos = []budgetcaller.ClassInfo{info}
				break
			}
		}
	}
	w := &errWriter{w: out}
	switch {
	case o.format.Value == "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, i := range infos {
			if err := enc.Encode(classLine{explainSchema, i.Class, i.When, i.Effect, i.Do}); err != nil {
				return err
			}
		}
	case len(infos) == 1:
		i := infos[0]
		fmt.Fprintln(w, i.Class)
		fmt.Fprintln(w, cli.Paragraph("when    ", i.When))
		fmt.Fprintln(w, cli.Paragraph("effect  ", i.Effect))
		fmt.Fprintln(w, cli.Paragraph("do      ", i.Do))
	default:
		explainAll(w, infos)
	}
	return w.err
}

// explainAll prints all classes in one table.
func explainAll(w io.Writer, infos []budgetcaller.ClassInfo) {
	const effectWidth, whenWidth = 20, 40
	t := cli.NewTable(w, "class", "effect", "when")
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, WidthMax: effectWidth, WidthMaxEnforcer: cli.Wrap},
		{Number: 3, WidthMax: whenWidth, WidthMaxEnforcer: cli.Wrap},
	})
	for _, i := range infos {
		t.AppendRow(table.Row{i.Class.String(), i.Effect, i.When})
	}
	t.Render()
	fmt.Fprintf(w, "\nEffect: none, it cannot have been carried out; unknown, it may have been;\nanswered, the partner said. What to do about one: caller explain %s\n", budgetcaller.ClassReadTimeout)
}
