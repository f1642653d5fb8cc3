package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"chaoslab/cmd/internal/cli"
	"chaoslab/cmd/internal/strictyaml"
	"chaoslab/faults"
	"chaoslab/faults/admin"
	"chaoslab/internal/chainhop"
)

// serveOptions are what the flags of partner say.
type serveOptions struct {
	source       source
	admin        string
	adminChanged bool
	allowRemote  bool
	noPerRequest bool
	tls          bool
	tlsCA        string
	ledger       string
	json         bool
}

const defaultAdmin = "127.0.0.1:8079"

// stopTime is how long the end may take: SIGTERM ends the process within 2 s,
// whatever hangs.
const stopTime = 1500 * time.Millisecond

// runServe runs a partner until ctx is done.
func runServe(ctx context.Context, o *serveOptions, s cli.Streams) error {
	f, err := o.prepare()
	if err != nil {
		return err
	}
	for _, note := range o.source.notes {
		fmt.Fprintf(s.Err, "partner: left out: %s\n", note)
	}
	f.Check = chainhop.CheckCircle
	f.Event = func(e faults.Event) { fmt.Fprintf(s.Err, "partner: %s: %s\n", e.Listener, e.Text) }
	partner, err := faults.Start(f.Config)
	var wrong *faults.ConfigError
	switch {
	case errors.As(err, &wrong):
		return cli.Usagef("%w", f.place(permit(err)))
	case err != nil:
		return f.place(err)
	}
	r := &running{partner: partner}
	defer r.stop(s.Err)
	if o.ledger != "" {
		if r.file, err = openLedger(o.ledger, partner.Ledger(), func(err error) {
			fmt.Fprintf(s.Err, "partner: --ledger: nothing more is written: %v\n", err)
		}); err != nil {
			return err
		}
	}
	r.server, err = admin.Start(admin.Config{Partner: partner, Listen: f.admin, AllowRemote: f.AllowRemote})
	if err != nil && !o.adminChanged && f.adminAt != (strictyaml.Node{}) {
		err = f.adminAt.Errorf("%w", err)
	}
	if err != nil {
		return err
	}
	o.source.tellSeed(s.Err, f)
	if err := printReady(s.Out, o.json, partner.Listeners(), r.server.URL()); err != nil {
		return fmt.Errorf("ready lines: %w", err)
	}
	<-ctx.Done()
	return cli.Exit(cli.ExitInterrupted, nil)
}

// prepare makes the configuration out of flags and file.
func (o *serveOptions) prepare() (configFile, error) {
	o.source.remote = o.allowRemote
	f, err := o.source.load()
	if err != nil {
		return f, err
	}
	f.AllowRemote = f.AllowRemote || o.allowRemote
	f.NoPerRequest = f.NoPerRequest || o.noPerRequest
	if o.adminChanged || f.admin == "" {
		f.admin = o.admin
		if err := admin.CheckListen(f.admin, f.AllowRemote); err != nil {
			return f, cli.Usagef("--admin: %w", permit(err))
		}
	}
	if o.tls {
		for i := range f.tls {
			f.tls[i] = true
		}
	}
	return f, o.certify(f)
}

// certify gives the listeners that are to speak TLS a certificate, and the user
// the authority to trust.
func (o *serveOptions) certify(f configFile) error {
	if !slices.Contains(f.tls, true) {
		if o.tlsCA != "" {
			return cli.Usagef("--tls-ca: no listener speaks TLS: give --tls too")
		}
		return nil
	}
	var addrs []netip.Addr
	for _, l := range f.Listeners {
		if host, _, err := net.SplitHostPort(l.Listen); err == nil {
			if a, err := netip.ParseAddr(host); err == nil && !a.IsUnspecified() {
				addrs = append(addrs, a)
			}
		}
	}
	setup, authority, err := faults.SelfSigned(addrs...)
	if err != nil {
		return err
	}
	if o.tlsCA != "" {
		if err := os.WriteFile(o.tlsCA, authority, 0o644); err != nil {
			return fmt.Errorf("--tls-ca: %w", err)
		}
	}
	setTLS(f, setup)
	return nil
}

func setTLS(f configFile, setup *tls.Config) {
	for i, on := range f.tls {
		// Who waits for TLS to begin waits for ever in tls-timeout, with or
		// without a certificate.
		if on {
			f.Listeners[i].TLS = setup
		}
	}
}

// running is what has to be stopped.
type running struct {
	partner *faults.Partner
	server  *admin.Server
	file    *ledgerFile
}

// stop ends all of it within stopTime, in this order: the partner, whose last
// entries the streams of the admin port may still get, then that port, which
// must not take the time of what comes before it, and then the file, into which
// what ends only now belongs too. What is not closed in time ends with the
// process.
func (r *running) stop(w io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_ = r.partner.Close(ctx)
	if r.server != nil {
		_ = r.server.Close(ctx)
	}
	if r.file != nil {
		r.file.close(w)
	}
}
