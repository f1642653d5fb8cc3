package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func TestUsageKeepsWithinTheWidth(t *testing.T) {
	t.Parallel()
	build := func(Streams) *cobra.Command {
		root := &cobra.Command{Use: "tool", Short: "a tool", Example: "  tool work"}
		root.PersistentFlags().String("admin", "http://127.0.0.1:8079", strings.Repeat("of all commands ", 8))
		sub := &cobra.Command{Use: "work", Short: "works", RunE: func(*cobra.Command, []string) error { return nil }}
		sub.Flags().String("mode", "", "one: "+strings.Repeat("said at length ", 9)+"\ntwo: "+strings.Repeat("said again ", 12))
		root.AddCommand(sub)
		return root
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--help"}, []string{"Usage:\n  tool [command]\n\nExamples:\n  tool work\n\nAvailable Commands:\n", "\n  work        works\n", "\n\nUse \"tool [command] --help\" for more"}},
		{[]string{"work", "--help"}, []string{"Usage:\n  tool work [flags]\n\nFlags:\n", "\n      --mode string   one: said at length", "\n                      two: said again", "\n\nGlobal Flags:\n      --admin string   of all"}},
	} {
		var out, errs bytes.Buffer
		if code := Run(context.Background(), build, c.args, Streams{Out: &out, Err: &errs}); code != ExitOK || errs.Len() > 0 {
			t.Errorf("%q: code %d, stderr %q; want 0 and nothing", c.args, code, errs.String())
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: got\n%s\nwant %q in it", c.args, out.String(), want)
			}
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > Width {
				t.Errorf("%q: %d columns, want at most %d: %s", c.args, n, Width, line)
			}
		}
	}
}
