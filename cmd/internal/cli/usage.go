package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usage prints how cmd is used, as cobra does but for two things: the help of
// flags is wrapped at Width, and there are no groups of commands.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n\nAvailable Commands:")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	// pflag keeps its lines below the width it is given.
	for _, flags := range []struct {
		head string
		set  *pflag.FlagSet
	}{{"Flags", cmd.LocalFlags()}, {"Global Flags", cmd.InheritedFlags()}} {
		if flags.set.HasAvailableFlags() {
			b.WriteString("\n\n" + flags.head + ":\n" + strings.TrimRight(flags.set.FlagUsagesWrapped(Width+1), " \n"))
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse %q for more information about a command.", cmd.CommandPath()+" [command] --help")
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), b.String())
	return err
}

// RefuseEmpty refuses those flags where they were given an empty value, which is
// mostly a variable of a script that was never set.
func RefuseEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return Usagef("--%s is empty: leave it out or give it a value", name)
		}
	}
	return nil
}
