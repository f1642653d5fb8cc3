package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/sandbox"
)

const sandboxLong = `sandbox runs COMMAND in a private network where 192.0.2.0/24 really is a black
hole: a connect to any of its addresses gets no answer, no refusal and no error,
so it lasts until a limit ends it. Elsewhere the same address (TEST-NET-1, RFC
5737) is only meant to lead nowhere: a gateway, a VPN or a proxy may refuse it,
or answer.

Inside there are loopback, as usual, and the black hole. Everything else fails
at once with "network is unreachable", and names are only those of /etc/hosts.
You stay the user you are, with the same files. No root is needed where the
system allows user namespaces. When COMMAND ends, everything that it left
running ends with it, and the network is gone.

If nobody sets a limit, the kernel ends the connect itself, after its SYN was
sent again some 6 times: about two minutes. --syn-retries lowers that number, in
the sandbox alone, so that the kernel's own limit can be seen within seconds: 1
is about 3 s, 2 about 7 s.

"caller" as COMMAND is this very program, installed or not.

The exit code is COMMAND's own, or 128+N if signal N ended it; 127 if there is
no such COMMAND, 126 if it cannot be run, 1 if there can be no sandbox here.`

const sandboxExample = `  caller sandbox -- caller measure http://192.0.2.1/ --connect-timeout 300ms
  caller sandbox --syn-retries 1 -- \
    caller measure http://192.0.2.1/ --connect-timeout 10s
  caller sandbox -- curl --connect-timeout 0.5 http://192.0.2.1/
  caller sandbox --syn-retries 2 -- curl http://192.0.2.1/
  caller sandbox -- sh               look around: ip addr, ip route, ss -tan`

// The exit codes of env(1) and the shell for a command that does not start.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// sandboxOptions are the command line of caller sandbox.
type sandboxOptions struct {
	synRetries int // 0: not given
	argv       []string
}

// sandboxCommand is sandbox.Command, and something else in tests.
type sandboxCommand func(context.Context, sandbox.Options, string, ...string) (*exec.Cmd, error)

func newSandbox(s cli.Streams) *cobra.Command { return newSandboxWith(s, sandbox.Command) }

func newSandboxWith(s cli.Streams, command sandboxCommand) *cobra.Command {
	var o sandboxOptions
	c := &cobra.Command{
		Use:     "sandbox [--syn-retries N] -- COMMAND [ARGS]",
		Short:   "run a command where 192.0.2.0/24 really is a black hole",
		Long:    sandboxLong,
		Example: sandboxExample,
		RunE: func(c *cobra.Command, args []string) error {
			o.argv = args
			if err := o.check(c.Flags().Changed("syn-retries")); err != nil {
				return err
			}
			return runSandbox(c.Context(), s, o, command)
		},
		DisableFlagsInUseLine: true,
	}
	c.Flags().SetInterspersed(false) // what follows COMMAND is COMMAND's
	c.Flags().IntVar(&o.synRetries, "syn-retries", 0,
		fmt.Sprintf("an unanswered SYN is repeated `N` times, %d to %d",
			sandbox.MinSynRetries, sandbox.MaxSynRetries))
	return c
}

func (o sandboxOptions) check(given bool) error {
	if given && (o.synRetries < sandbox.MinSynRetries || o.synRetries > sandbox.MaxSynRetries) {
		return cli.Usagef("sandbox: --syn-retries %d: from %d to %d",
			o.synRetries, sandbox.MinSynRetries, sandbox.MaxSynRetries)
	}
	if len(o.argv) == 0 {
		return cli.Usagef("sandbox: no COMMAND; try: caller sandbox -- caller measure http://192.0.2.1/")
	}
	return nil
}

func runSandbox(ctx context.Context, s cli.Streams, o sandboxOptions, command sandboxCommand) error {
	name := o.argv[0]
	if name == "caller" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("sandbox: where this program is: %w", err)
		}
		name = self
	}
	cmd, err := command(ctx, sandbox.Options{SynRetries: o.synRetries}, name, o.argv[1:]...)
	if err != nil {
		return sandboxError(ctx, err)
	}
	if o.synRetries != 0 {
		fmt.Fprintf(s.Err, "sandbox: tcp_syn_retries=%d: the kernel ends an unanswered connect after nominally %v\n",
			o.synRetries, sandbox.GiveUp(o.synRetries))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	code, err := sandbox.Run(ctx, cmd)
	switch {
	case err != nil:
		return sandboxError(ctx, err)
	case code != cli.ExitOK:
		return cli.Exit(code, nil) // COMMAND has said why
	}
	return nil
}

// sandboxError is the line and the exit code for a COMMAND that did not run to
// its end.
func sandboxError(ctx context.Context, err error) error {
	var search *exec.Error
	switch {
	case ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted, nil)
	case errors.Is(err, sandbox.ErrUnavailable):
		return cli.Exit(cli.ExitFailed, fmt.Errorf(
			"sandbox: %w; on loopback there is a black hole all the same: partner --mode connect-timeout", err))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return cli.Exit(exitNotFound, fmt.Errorf("sandbox: %w", err))
	case errors.As(err, &search):
		return cli.Exit(exitNotExecutable, fmt.Errorf("sandbox: %w", err))
	}
	return fmt.Errorf("sandbox: %w", err)
}
