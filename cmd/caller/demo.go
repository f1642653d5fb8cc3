package main

import (
	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
)

func newDemo(s cli.Streams) *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "the three ways to fail, side by side, against a partner of its own"}
}
