package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
)

// defaultMode is what schedule shows if it is told how much, but not of what.
const defaultMode = "slow"

type scheduleOptions struct {
	source source
	n      int
	format string
}

func newSchedule(s cli.Streams) *cobra.Command {
	o := &scheduleOptions{}
	o.source.hint = fmt.Sprintf("%q for one row, %q for those of a file", "partner schedule --seed 7 -n 20 --mode status:when=ratio=0.2", "partner schedule --config FILE")
	cmd := &cobra.Command{
		Use:     "schedule --mode MODE --seed N",
		Short:   "What will come: the outcome of each request, by its number",
		Long:    "schedule prints what a partner with the same modes and the same seed will do\nto each request, by its number on the listener, whatever the concurrency.\nWith a seed or a number and no mode it shows " + defaultMode + ".",
		Example: "  partner schedule --seed 7 -n 20 --mode status:when=ratio=0.2\n  partner schedule --seed 7 -n 20 --mode slow --delay 'uniform(1ms,9ms)'",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.source.read(cmd); err != nil {
				return err
			}
			asked := o.source.hasSeed || cmd.Flags().Changed("requests")
			if asked && o.source.file == "" && len(o.source.modes) == 0 {
				o.source.modes = []string{defaultMode}
				fmt.Fprintf(s.Err, "no mode given: this is %s, which decides nothing by chance; try --mode status:when=ratio=0.2\n", defaultMode)
			}
			return runSchedule(o, s)
		},
	}
	o.source.flags(cmd)
	cmd.Flags().IntVarP(&o.n, "requests", "n", 20, "how many requests")
	cmd.Flags().StringVar(&o.format, "format", "table", "table or json (one object a line)")
	return cmd
}

// scheduleRow is one row as a JSON object.
type scheduleRow struct {
	Schema     string  `json:"schema"`
	Listener   string  `json:"listener"`
	FromMS     float64 `json:"from_ms"`
	Port       string  `json:"port,omitempty"`
	Number     uint64  `json:"number,omitempty"`
	Request    string  `json:"request,omitempty"`
	DelayMS    float64 `json:"delay_ms"`
	Connection string  `json:"connection,omitempty"`
}

const scheduleSchema = "partner.schedule/1"

func runSchedule(o *scheduleOptions, s cli.Streams) error {
	switch {
	case o.n < 1 || o.n > faults.MaxRows:
		return cli.Usagef("-n %d is out of range: 1 to %d", o.n, faults.MaxRows)
	case o.format != "table" && o.format != "json":
		return cli.Usagef("--format %q is not known: table or json", o.format)
	}
	o.source.remote = true // nothing listens
	cfg, err := o.source.load()
	if err != nil {
		return err
	}
	o.source.tellSeed(s.Err, cfg)
	for _, l := range cfg.Listeners {
		if l.Name == "" {
			l.Name = faults.DefaultName(l.Faults)
		}
		stages, err := modes().Schedule(l.Faults, cfg.Seed, l.Name, o.n)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		if o.format == "json" {
			err = printStagesJSON(s.Out, l.Name, stages)
		} else {
			err = printStages(s.Out, l.Name, stages)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func printStages(w io.Writer, name string, stages []faults.Stage) error {
	for _, st := range stages {
		head := "listener " + name
		if len(stages) > 1 {
			head += fmt.Sprintf(", from %v on", st.From)
		}
		fmt.Fprintln(w, head)
		if st.Port != "" {
			fmt.Fprintf(w, "  the port: %s\n", st.Port)
			continue
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  NUMBER\tREQUEST\tDELAY\tCONNECTION")
		for _, r := range st.Rows {
			delay, connection := "-", "-"
			if r.Delay > 0 {
				delay = r.Delay.Round(time.Microsecond).String()
			}
			if r.Connection != "" {
				connection = r.Connection
			}
			fmt.Fprintf(t, "  %d\t%s\t%s\t%s\n", r.Number, r.Request, delay, connection)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func printStagesJSON(w io.Writer, name string, stages []faults.Stage) error {
	enc := json.NewEncoder(w)
	for _, st := range stages {
		row := scheduleRow{Schema: scheduleSchema, Listener: name, FromMS: st.From.Seconds() * 1000, Port: st.Port}
		if st.Port != "" {
			if err := enc.Encode(row); err != nil {
				return err
			}
		}
		for _, r := range st.Rows {
			row.Number, row.Request, row.Connection = r.Number, r.Request, r.Connection
			row.DelayMS = float64(r.Delay.Microseconds()) / 1000
			if err := enc.Encode(row); err != nil {
				return err
			}
		}
	}
	return nil
}
