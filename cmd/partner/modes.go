package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/internal/chainhop"
)

// modes is what there is: the faults, and the one that makes calls by the caller's
// library.
func modes() faults.Modes { return faults.Modes{}.With(chainhop.Fault()) }

type modesOptions struct {
	format string
	mode   string // only this one; empty: all
}

func newModes(s cli.Streams) *cobra.Command {
	o := &modesOptions{}
	cmd := &cobra.Command{
		Use:   "modes [MODE]",
		Short: "What there is: every mode with its parameters",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.mode = args[0]
			}
			return runModes(o, s)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "table", "table, json or markdown (the table of the README)")
	return cmd
}

func runModes(o *modesOptions, s cli.Streams) error {
	all := modes().All()
	if o.mode != "" {
		f, err := modes().Lookup(o.mode)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		all = []faults.Fault{f}
	}
	switch o.format {
	case "table":
		return printModes(s.Out, all)
	case "json":
		return printModesJSON(s.Out, all)
	case "markdown":
		_, err := io.WriteString(s.Out, modes().MarkdownTable())
		return err
	}
	return cli.Usagef("--format %q is not known: table, json or markdown", o.format)
}

func printModes(w io.Writer, all []faults.Fault) error {
	column := len("every mode")
	for _, f := range all {
		column = max(column, len(f.Name))
	}
	var b strings.Builder
	line := func(head, text string) {
		fmt.Fprintln(&b, cli.Paragraph(fmt.Sprintf("%-*s  ", column, head), text))
	}
	param := func(text string) {
		fmt.Fprintln(&b, hanging(strings.Repeat(" ", column+4), text))
	}
	for _, f := range all {
		line(f.Name, f.Summary)
		line("", fmt.Sprintf("effect: %s; a caller sees: %s; curl's exit code: %s", f.Effect, f.Class, f.Curl))
		for _, p := range f.Params {
			param(fmt.Sprintf("%s=%s: %s (%s)", p.Name, p.Default, p.Help, p.Range()))
		}
	}
	if len(all) > 1 {
		fmt.Fprintln(&b)
		line("every mode", "takes")
		for _, p := range faults.CommonParams() {
			param(p.Name + ": " + p.Help)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// hanging returns text wrapped behind indent, its further lines two columns
// farther in than the first.
func hanging(indent, text string) string {
	const further = "  "
	lines := cli.Wrap(text, cli.Width-len(indent)-len(further))
	return indent + strings.ReplaceAll(lines, "\n", "\n"+indent+further)
}

// modeJSON is one mode as a JSON object.
type modeJSON struct {
	Schema  string      `json:"schema"`
	Mode    string      `json:"mode"`
	Summary string      `json:"summary"`
	Effect  string      `json:"effect"`
	Class   string      `json:"class"`
	Curl    string      `json:"curl"`
	Params  []paramJSON `json:"params"`
}

type paramJSON struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Default string `json:"default"`
	Range   string `json:"range"`
	Help    string `json:"help"`
}

func printModesJSON(w io.Writer, all []faults.Fault) error {
	enc := json.NewEncoder(w)
	for _, f := range all {
		m := modeJSON{"partner.mode/1", f.Name, f.Summary, f.Effect, f.Class, f.Curl, []paramJSON{}}
		for _, p := range f.Params {
			m.Params = append(m.Params, paramJSON{p.Name, p.Kind.String(), p.Default, p.Range(), p.Help})
		}
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return nil
}
