package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/cmd/internal/strictyaml"
	"chaoslab/labs/layers"
)

// layersOptions is what the flags of layers say.
type layersOptions struct {
	file   string // "-": stdin
	strict bool
	format cli.Choice
}

func newLayers(s cli.Streams) *cobra.Command {
	o := &layersOptions{format: cli.Format("table", "json", "csv")}
	cmd := &cobra.Command{
		Use:   "layers LAYERS.yaml",
		Short: "check limits from the outside in: which layer cannot hold",
		Long: `layers checks a chain of layers that call each other, each with a limit and
retries of its own. With a limit of L and R retries a layer takes at worst
  L x (R + 1) + the waits between its tries
and that must be less than the limit that the layer outside has for it. Else it
works on for nobody after the one outside gave up.
  sound        it ends in time
  tight        it does, but uses more than 80 % of what it has
  cannot hold  it may take as long or longer, and by how much

The file lists the layers from the outside in:
  name: checkout
  layers:
    - name: gateway
      limit: {value: 10s, reason: "the slowest page worth showing"}
    - name: api
      limit: {value: 3s, reason: "p99 of 1 s x 3, 500 calls, 2025-05-01"}
      retries: {value: 2, reason: "one lost packet is common"}
      backoff: {base: 100ms, cap: 1s, reason: "the library's default"}
caller suggest prints such a limit. Further keys of a layer: waits (instead of
backoff: all its waits together) and deadline (afresh, the default: its limit
starts when it is called; adopted: it ends with the deadline passed down to it).
With instances and per_second beside name, it says what load may arrive. A
number without a reason is warned about.

--format json prints one object (schema caller.layers/1), csv one row a layer.
Exit codes: 0 all hold (tight and warnings too, unless --strict), 1 a layer
cannot hold, 2 wrong usage or a file that cannot be read.`,
		Example: `  caller layers examples/layers/sound.yaml
  caller layers examples/layers/tight.yaml --strict
  caller layers - --format json < examples/layers/load.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("nothing to check: name a file, as in: caller layers LAYERS.yaml (caller layers --help shows what is in it)")
			}
			o.file = args[0]
			return runLayers(o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.strict, "strict", false, "exit 1 for a tight layer or a warning, too")
	f.Var(&o.format, "format", "how it is printed")
	return cmd
}

// runLayers reads the file, prints what was found and returns the verdict.
func runLayers(o *layersOptions, s cli.Streams) error {
	name, root, err := readLayers(o.file, s.In)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	chain, err := parseLayers(root)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	audit, err := chain.Audit()
	if err != nil {
		return cli.Usagef("%w", root.Errorf("%w", err))
	}
	w := &errWriter{w: s.Out}
	switch o.format.Value {
	case "json":
		err = layersJSON(w, name, chain, audit)
	case "csv":
		err = layersCSV(w, audit)
	default:
		layersTable(w, chain, audit)
	}
	if err = errors.Join(err, w.err); err != nil {
		return err
	}
	return layersVerdict(name, audit, o.strict)
}

// readLayers returns what the file holds and its name for errors.
func readLayers(file string, stdin io.Reader) (name string, root strictyaml.Node, err error) {
	if file != "-" {
		root, err = strictyaml.Read(file)
		return file, root, err
	}
	text, err := io.ReadAll(io.LimitReader(stdin, strictyaml.MaxSize+1))
	if err == nil {
		root, err = strictyaml.Parse("stdin", text)
	}
	return "stdin", root, err
}

// layersVerdict is nil if all layers hold, else it names those that do not and
// by how much.
func layersVerdict(file string, a layers.Audit, strict bool) error {
	var bad []string
	for _, f := range a.Findings {
		switch {
		case f.Verdict == layers.CannotHold:
			bad = append(bad, tooLong(f))
		case f.Verdict == layers.Tight && strict:
			bad = append(bad, fmt.Sprintf("%s is tight, %s of what %s has", f.Layer.Name, percent(f.Used()), f.Outside))
		}
	}
	if n := len(a.Warnings); strict && n > 0 {
		bad = append(bad, fmt.Sprintf("%d warning(s), the first: %v", n, a.Warnings[0]))
	}
	if len(bad) == 0 {
		return nil
	}
	return cli.Exit(cli.ExitFailed, fmt.Errorf("%s: %s", file, strings.Join(bad, "; ")))
}

func tooLong(f layers.Finding) string {
	by := "just as long as " + f.Outside + " waits"
	if f.Over > 0 {
		by = fmt.Sprintf("%v longer than %s waits", f.Over, f.Outside)
	}
	return fmt.Sprintf("%s cannot hold: at worst it takes %s", f.Layer.Name, by)
}

// percent returns a share in whole hundredths, rounded up: what is just over a
// bound must not look as if it were on it.
func percent(share float64) string {
	const noise = 1e-9 // of the division
	return fmt.Sprintf("%.0f %%", math.Ceil(share*100-noise))
}
