package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
)

const rootLong = `partner is a server that misbehaves on purpose, exactly as asked, and keeps a
ledger of what really happened to it.

It prints one line for each port once it is in its state, last the one of the
admin port; a script waits by reading them. It runs until SIGINT or SIGTERM
(exit code 130, within 2 s also with calls hanging).

A mode is written as NAME or NAME:key=value,key=value; the flags below set the
same parameters. Given several times, --mode puts faults in a row on one port:
what one does not hit (when=first=3) gets the next, in the end ok.

A file for --config (only listeners must be there):

  seed: 7
  admin: 127.0.0.1:8079
  ledger_size: 65536
  max_connections: 16384      # of all; an eighth in equal shares of their own
  per_request: false          # no ?fault= and no X-Partner-Fault
  allow_remote: false         # true: addresses that others can reach, too
  listeners:
    - name: pay
      listen: 127.0.0.1:8080
      tls: false
      faults:                 # in order; none: ok
        - slow:delay=300ms,when=first=3
        - mode: status
          status: 429
          retry-after: 1
          for: 10s`

const rootExample = `  partner --mode slow --delay 300ms
  partner --mode slow:delay=300ms,when=first=3
  partner --mode all --listen 127.0.0.1:0 --admin 127.0.0.1:0
  partner --config partner.yaml --ledger ledger.jsonl
  partner ctl ledger
  curl 'http://127.0.0.1:8080/?fault=status:status=500'`

func newRoot(s cli.Streams) *cobra.Command {
	o := &serveOptions{}
	o.source.hint = fmt.Sprintf("%q for one fault, %q for each on its own port", "partner --mode slow", "partner --mode all")
	cmd := &cobra.Command{
		Use:     "partner --mode MODE",
		Short:   "A server that misbehaves on purpose, exactly as asked",
		Long:    rootLong,
		Example: rootExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.RefuseEmpty(cmd, "listen", "ledger", "tls-ca"); err != nil {
				return err
			}
			if err := o.source.read(cmd); err != nil {
				return err
			}
			if len(o.source.modes) > 1 && slices.Contains(o.source.modes, "all") {
				return cli.Usagef("--mode all gives each mode a port of its own: leave out the other --mode")
			}
			o.adminChanged = cmd.Flags().Changed("admin")
			return runServe(cmd.Context(), o, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.source.listen, "listen", defaultListen, "address; port 0 picks a free one, localhost means IPv4 and IPv6; with --mode all the first of a row of ports")
	f.StringVar(&o.admin, "admin", defaultAdmin, "address of the admin port")
	f.StringVar(&o.ledger, "ledger", "", "append every entry that ends to this `file`, one JSON object a line")
	f.BoolVar(&o.json, "json", false, "print the ready lines as JSON objects")
	f.BoolVar(&o.tls, "tls", false, "speak TLS, with a certificate made at start")
	f.StringVar(&o.tlsCA, "tls-ca", "", "write the certificate that clients must trust to this `file`")
	f.BoolVar(&o.noPerRequest, "no-per-request", false, "do not let requests choose a fault by ?fault= or the header X-Partner-Fault")
	f.BoolVar(&o.allowRemote, "allow-remote", false, "allow addresses that others can reach, not only loopback")
	o.source.flags(cmd)
	cmd.AddCommand(newModes(s), newSchedule(s), newCtl(s))
	return cmd
}

// noArgs refuses arguments with the word for what was probably meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := modes().Parse(args[0]); cmd.Flags().Lookup("mode") != nil && (err == nil || args[0] == "all") {
		return cli.Usagef("unexpected %q: write %s --mode %s", args[0], cmd.CommandPath(), args[0])
	}
	return cli.Usagef("unexpected %q; try %q", args[0], cmd.CommandPath()+" --help")
}
