package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/faults"
	"chaoslab/faults/admin"
)

// serveOptions are what the flags of partner say.
type serveOptions struct {
	modes       []string
	params      map[string]string
	listen      string
	admin       string
	allowRemote bool
	ledger      string
	json        bool
}

// stopTime is how long the end may take: SIGTERM ends the process within 2 s,
// whatever hangs.
const stopTime = 1500 * time.Millisecond

// runServe runs a partner until ctx is done.
func runServe(ctx context.Context, o *serveOptions, s cli.Streams) error {
	listeners, err := o.listeners()
	if err != nil {
		return err
	}
	partner, err := faults.Start(faults.Config{
		Listeners: listeners, AllowRemote: o.allowRemote,
		Event: func(e faults.Event) { fmt.Fprintf(s.Err, "partner: %s: %s\n", e.Listener, e.Text) },
	})
	var wrong *faults.ConfigError
	switch {
	case errors.As(err, &wrong):
		return cli.Usagef("%w", err)
	case err != nil:
		return err
	}
	defer closeWithin(partner.Close)
	if o.ledger != "" {
		file, err := openLedger(o.ledger, partner.Ledger())
		if err != nil {
			return err
		}
		defer func() {
			closeWithin(partner.Close) // what ends only now belongs into the file
			file.close(s.Err)
		}()
	}
	server, err := admin.Start(admin.Config{Partner: partner, Listen: o.admin, AllowRemote: o.allowRemote})
	if err != nil {
		return err
	}
	defer closeWithin(server.Close)
	if err := printReady(s.Out, o.json, partner.Listeners(), server.URL()); err != nil {
		return fmt.Errorf("ready lines: %w", err)
	}
	<-ctx.Done()
	return cli.Exit(cli.ExitInterrupted, nil)
}

// closeWithin closes what must not keep the process from ending.
func closeWithin(closer func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_ = closer(ctx) // the process ends anyway, and takes what is left with it
}

// listeners makes the configuration from the flags.
func (o *serveOptions) listeners() ([]faults.ListenerConfig, error) {
	switch {
	case len(o.modes) == 0:
		return nil, cli.Usagef("no mode given: type %q for one fault, %q for each on its own port, %q for what there is",
			"partner --mode slow", "partner --mode all", "partner modes")
	case len(o.modes) == 1 && o.modes[0] == "all":
		return o.everything()
	}
	specs, err := parseModes(o.modes, o.params)
	if err != nil {
		return nil, err
	}
	return []faults.ListenerConfig{{Listen: o.listen, Faults: specs}}, nil
}

// everything gives each fault a port: the one of --listen and those after it, or
// free ones.
func (o *serveOptions) everything() ([]faults.ListenerConfig, error) {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil {
		return nil, cli.Usagef("--listen %q: write HOST:PORT, such as 127.0.0.1:8080", o.listen)
	}
	first, err := strconv.Atoi(port)
	names := faults.Names()
	if err != nil || first < 0 || first+len(names)-1 > 65535 {
		return nil, cli.Usagef("--listen %q: %d ports from there on are needed", o.listen, len(names))
	}
	for _, key := range []string{"when", "for"} {
		if _, ok := o.params[key]; ok {
			return nil, cli.Usagef("--%s does not go with --mode all: choose one mode", key)
		}
	}
	specs, err := parseModes(names, o.params)
	if err != nil {
		return nil, err
	}
	all := make([]faults.ListenerConfig, len(specs))
	for i, s := range specs {
		p := 0
		if first > 0 {
			p = first + i
		}
		all[i] = faults.ListenerConfig{Listen: net.JoinHostPort(host, strconv.Itoa(p)), Faults: []faults.Spec{s}}
	}
	return all, nil
}
