package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
)

// paramFlag marks the flags that are parameters of faults.
const paramFlag = "partner_parameter"

// paramValue is the text of a parameter. What it may be is the fault's to say,
// once the mode is known.
type paramValue struct {
	text string
	kind faults.Kind
}

// Set implements pflag.Value.
func (v *paramValue) Set(s string) error { v.text = s; return nil }

// String implements pflag.Value.
func (v *paramValue) String() string { return v.text }

// Type implements pflag.Value.
func (v *paramValue) Type() string { return v.kind.String() }

// addParamFlags adds a flag for every parameter of every fault: the list in the
// code is the only place where they are written down.
func addParamFlags(cmd *cobra.Command) {
	add := func(name, help string, kind faults.Kind) {
		f := cmd.Flags()
		f.Var(&paramValue{kind: kind}, name, help)
		_ = f.SetAnnotation(name, paramFlag, []string{name}) // it was just added
	}
	for _, f := range modes().All() {
		for _, p := range f.Params {
			if cmd.Flags().Lookup(p.Name) == nil {
				add(p.Name, paramHelp(p.Name), p.Kind)
			}
		}
	}
	for _, p := range faults.CommonParams() {
		add(p.Name, p.Help, p.Kind)
	}
}

// paramHelp says what a parameter means; where modes mean different things by
// it, each is told.
func paramHelp(name string) string {
	type meaning struct {
		help  string
		modes []string
	}
	var meanings []meaning
	for _, f := range modes().All() {
		for _, p := range f.Params {
			if p.Name != name {
				continue
			}
			help := fmt.Sprintf("%s (%s, default %s)", p.Help, p.Range(), p.Default)
			i := slices.IndexFunc(meanings, func(m meaning) bool { return m.help == help })
			if i < 0 {
				i = len(meanings)
				meanings = append(meanings, meaning{help: help})
			}
			meanings[i].modes = append(meanings[i].modes, f.Name)
		}
	}
	lines := make([]string, len(meanings))
	for i, m := range meanings {
		lines[i] = strings.Join(m.modes, ", ") + ": " + m.help
	}
	return strings.Join(lines, "\n")
}

// changedParams returns the parameters that were given as flags.
func changedParams(cmd *cobra.Command) map[string]string {
	params := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, ok := f.Annotations[paramFlag]; ok {
			params[f.Name] = f.Value.String()
		}
	})
	return params
}

// parseModes makes faults of --mode values and parameter flags. A parameter
// goes to every mode that takes it; one that none takes is an error.
func parseModes(given []string, params map[string]string) ([]faults.Spec, error) {
	used := map[string]bool{}
	var specs []faults.Spec
	for _, text := range given {
		name, _, _ := strings.Cut(text, ":")
		mine := map[string]string{}
		if f, err := modes().Lookup(name); err == nil {
			for _, key := range f.Takes() {
				if v, ok := params[key]; ok {
					mine[key], used[key] = v, true
				}
			}
		}
		s, err := modes().ParseWith(text, mine)
		if err != nil {
			return nil, cli.Usagef("--mode %s: %w", text, err)
		}
		specs = append(specs, s)
	}
	for key := range params {
		if !used[key] {
			return nil, cli.Usagef("--%s: %s takes no such parameter: %s", key, strings.Join(given, ", "), takes(given))
		}
		if len(given) > 1 && slices.Contains([]string{"when", "for"}, key) {
			return nil, cli.Usagef("--%s with several modes: write it into the one it is for: --mode %s:%s=%s", key, given[0], key, params[key])
		}
	}
	return specs, nil
}

// takes lists what the modes take.
func takes(given []string) string {
	var all []string
	for _, text := range given {
		name, _, _ := strings.Cut(text, ":")
		if f, err := modes().Lookup(name); err == nil {
			all = append(all, "it takes --"+strings.Join(f.Takes(), ", --"))
		}
	}
	return strings.Join(all, "; ")
}
