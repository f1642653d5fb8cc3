package main

import (
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
)

// newRoot returns the command line of caller: one line a subcommand.
func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "caller",
		Short: "measure when a call was really cut off, by which limit, and what that means",
		Long: `caller measures when a network call was really cut off, by which limit, in which
phase, and whether the partner may have carried it out all the same.

In bash a builtin has the same name. This once, or in ~/.bashrc, makes way:
  enable -n caller`,
		Example: `  caller demo                               the three ways to fail, side by side
  caller measure http://127.0.0.1:8080/     one call, measured
  caller explain read_timeout               what a result means and what to do`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(
		newDemo(s),
		newMeasure(s, runMeasure),
		newSuggest(s, runSuggest),
		newLayers(s),
		newExplain(s),
		newScreen(s),
		newQueue(s),
		newSandbox(s),
		newChain(s, runChain),
		newLab(s),
		newDoctor(s),
		newStorm(s, runStorm),
	)
	return root
}
