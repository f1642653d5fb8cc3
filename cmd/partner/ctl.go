package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/faults/admin"
)

// ctlOptions are what the flags of partner ctl and its commands say.
type ctlOptions struct {
	admin    string
	format   string
	ttl      cli.Duration
	clear    bool
	wait     cli.Duration
	listener string
	remote   string
	limit    int
}

const ctlLong = `ctl looks at a running partner, and changes it while it runs.

Without a command it says what there is to type.`

const ctlSetLong = `set gives a listener other faults, in a row; ok for none. A listener has the name
of the mode it was started with, or the one in its file: see partner ctl get.

Connections that are there already are reached too. If the port is to be refused
or silent, idle ones are closed at once and busy ones at their next request,
without an answer. If a fault hits connections as they are accepted, idle ones are
closed at once and busy ones after their next answer, so that clients come again.

Hops of chains that would call each other in a circle within this partner are
refused, as at its start, and nothing is changed.`

func newCtl(s cli.Streams) *cobra.Command {
	o := &ctlOptions{}
	cmd := &cobra.Command{
		Use:   "ctl COMMAND",
		Short: "Look at a running partner and change it",
		Long:  ctlLong,
		RunE: func(*cobra.Command, []string) error {
			return cli.Usagef("no command given: type %q, %q, %q, %q, %q or %q", "partner ctl get", "partner ctl set slow refused --ttl 10s",
				"partner ctl reset", "partner ctl ledger", "partner ctl effects", "partner ctl watch")
		},
	}
	cmd.PersistentFlags().StringVar(&o.admin, "admin", "http://127.0.0.1:8079", "URL of the partner's admin port")
	cmd.PersistentFlags().StringVar(&o.format, "format", "table", "table or json (one object a line); ledger prints JSON in any case")
	get := &cobra.Command{
		Use: "get [LISTENER]", Short: "The listeners and their faults", Args: cobra.MaximumNArgs(1),
		RunE: o.run(s, runGet),
	}
	set := &cobra.Command{
		Use: "set LISTENER FAULT...", Short: "Give a listener other faults, in a row; ok for none",
		Long:    ctlSetLong,
		Example: "  partner ctl set slow refused --ttl 10s\n  partner ctl set slow status:when=first=3 slow:delay=1s",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usagef("a listener and its faults are needed: type %q; %q names the listeners", "partner ctl set slow refused --ttl 10s", "partner ctl get")
			}
			return nil
		},
		RunE: o.run(s, runSet),
	}
	set.Flags().Var(&o.ttl, "ttl", "after this the former faults return by themselves")
	reset := &cobra.Command{
		Use: "reset [LISTENER]", Short: "Give a listener, or all, the faults it was started with",
		Args: cobra.MaximumNArgs(1), RunE: o.run(s, runReset),
	}
	ledger := &cobra.Command{
		Use: "ledger", Short: "What happened, one JSON object a line",
		Args: func(cmd *cobra.Command, args []string) error {
			return cmp.Or(noArgs(cmd, args), cli.RefuseEmpty(cmd, "listener", "remote"))
		},
		RunE: o.run(s, runLedger),
	}
	ledger.Flags().BoolVar(&o.clear, "clear", false, "forget it instead")
	ledger.Flags().StringVar(&o.listener, "listener", "", "only this listener")
	ledger.Flags().StringVar(&o.remote, "remote", "", "only the newest connection from this `IP:PORT`")
	ledger.Flags().IntVar(&o.limit, "limit", 0, "at most so many of the newest; 0: all")
	ledger.Flags().Var(&o.wait, "wait", "hold the answer for up to so long, until there are entries and all have ended")
	effects := &cobra.Command{
		Use: "effects", Short: "What was really done, and duplicates by Idempotency-Key", Args: noArgs, RunE: o.run(s, runEffects),
	}
	effects.Flags().BoolVar(&o.clear, "clear", false, "forget it instead")
	watch := &cobra.Command{
		Use: "watch", Short: "Every connection and request as it ends, until interrupted", Args: noArgs, RunE: o.run(s, runWatch),
	}
	cmd.AddCommand(get, set, reset, ledger, effects, watch)
	return cmd
}

type ctlRun func(ctx context.Context, c *admin.Client, o *ctlOptions, args []string, w io.Writer) error

// run gives f a client and what every command checks.
func (o *ctlOptions) run(s cli.Streams, f ctlRun) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if o.format != "table" && o.format != "json" {
			return cli.Usagef("--format %q is not known: table or json", o.format)
		}
		c, err := admin.NewClient(o.admin)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		defer c.Close()
		err = f(cmd.Context(), c, o, args, s.Out)
		var refused *admin.RefusedError
		if errors.As(err, &refused) && refused.Status == http.StatusBadRequest {
			return cli.Usagef("%w", err)
		}
		return err
	}
}

func runGet(ctx context.Context, c *admin.Client, o *ctlOptions, args []string, w io.Writer) error {
	all, err := c.Listeners(ctx)
	if err != nil {
		return err
	}
	return printListeners(w, o.format, all, args)
}

func runSet(ctx context.Context, c *admin.Client, o *ctlOptions, args []string, w io.Writer) error {
	for _, f := range args[1:] {
		if _, err := modes().Parse(f); err != nil {
			return cli.Usagef("%w", err)
		}
	}
	all, err := c.Set(ctx, args[0], args[1:], o.ttl.D)
	if err != nil {
		return err
	}
	return printListeners(w, o.format, all, args[:1])
}

func runReset(ctx context.Context, c *admin.Client, o *ctlOptions, args []string, w io.Writer) error {
	name := strings.Join(args, "")
	if len(args) > 0 && name == "" {
		return cli.Usagef("the name of a listener is empty: leave it out for all")
	}
	all, err := c.Reset(ctx, name)
	if err != nil {
		return err
	}
	return printListeners(w, o.format, all, args)
}

// printListeners prints the listener of that name, or all if there is none.
func printListeners(w io.Writer, format string, all []faults.Listener, name []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if format == "table" {
		fmt.Fprintln(t, "LISTENER\tURL\tFAULTS")
	}
	found := false
	for _, l := range all {
		if len(name) > 0 && l.Name != name[0] {
			continue
		}
		found = true
		if format == "json" {
			if err := json.NewEncoder(w).Encode(l); err != nil {
				return err
			}
			continue
		}
		now := strings.Join(l.Faults, " ")
		if now == "" {
			now = "ok"
		}
		if l.UntilMS > 0 {
			now += " (until " + time.UnixMilli(int64(l.UntilMS)).Format(time.TimeOnly) + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", l.Name, l.URL, now)
	}
	if !found {
		names := make([]string, len(all))
		for i, l := range all {
			names[i] = l.Name
		}
		return cli.Usagef("no listener %q: one of %s", name[0], strings.Join(names, ", "))
	}
	return t.Flush()
}

func runLedger(ctx context.Context, c *admin.Client, o *ctlOptions, _ []string, w io.Writer) error {
	if o.clear {
		for _, f := range []struct {
			name  string
			given bool
		}{{"listener", o.listener != ""}, {"remote", o.remote != ""}, {"limit", o.limit != 0}, {"wait", o.wait.IsSet}} {
			if f.given {
				return cli.Usagef("--clear forgets all entries: leave out --%s", f.name)
			}
		}
		return c.ClearLedger(ctx)
	}
	q := faults.Query{Listener: o.listener, Limit: o.limit}
	if o.limit < 0 {
		return cli.Usagef("--limit %d is negative", o.limit)
	}
	if o.remote != "" {
		var err error
		if q.Remote, err = netip.ParseAddrPort(o.remote); err != nil {
			return cli.Usagef("--remote %q is not IP:PORT", o.remote)
		}
	}
	enc := json.NewEncoder(w)
	return c.EachEntry(ctx, q, o.wait.D, func(e faults.Entry) error { return enc.Encode(e) })
}

func runEffects(ctx context.Context, c *admin.Client, o *ctlOptions, _ []string, w io.Writer) error {
	if o.clear {
		return c.ClearEffects(ctx)
	}
	all, err := c.Effects(ctx)
	if err != nil {
		return err
	}
	if o.format == "json" {
		enc := json.NewEncoder(w)
		for _, e := range all {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LISTENER\tKEY\tEFFECTS\tDUPLICATES")
	for _, e := range all {
		fmt.Fprintf(t, "%s\t(all)\t%d\t%d\n", e.Listener, e.Effects, e.Duplicates)
		for _, k := range e.Keys {
			fmt.Fprintf(t, "\t%s\t1\t%d\n", k.Key, k.Duplicates)
		}
		if e.WithoutKey > 0 {
			fmt.Fprintf(t, "\t(no key)\t%d\t-\n", e.WithoutKey)
		}
	}
	return t.Flush()
}

func runWatch(ctx context.Context, c *admin.Client, o *ctlOptions, _ []string, w io.Writer) error {
	enc := json.NewEncoder(w)
	err := c.Stream(ctx, func(e faults.Entry) error {
		if o.format == "json" {
			return enc.Encode(e)
		}
		return printEntry(w, e)
	}, func(missed uint64) error {
		if o.format == "json" {
			return enc.Encode(admin.Missed{Schema: admin.MissedSchema, Missed: missed})
		}
		_, err := fmt.Fprintf(w, "(%d missed)\n", missed)
		return err
	})
	if err == nil && ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted, nil)
	}
	return err
}

// printEntry tells an entry in one line.
func printEntry(w io.Writer, e faults.Entry) error {
	what := "connection"
	if e.Kind == "request" {
		what = e.Method + " " + e.Path
	}
	effect := ""
	switch {
	case e.Duplicate:
		effect = fmt.Sprintf(", a duplicate of effect %d", e.EffectID)
	case e.Effect:
		effect = fmt.Sprintf(", effect %d", e.EffectID)
	}
	_, err := fmt.Fprintf(w, "%s %s %s from %s: %s by the %s after %.1f ms%s\n",
		time.UnixMilli(int64(e.EndedAt)).Format("15:04:05.000"), e.Listener, what, e.Remote, e.How, e.EndedBy, e.Elapsed, effect)
	return err
}
