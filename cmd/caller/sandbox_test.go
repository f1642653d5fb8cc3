package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"chaoslab/cmd/internal/cli"
	"chaoslab/labs/sandbox"
)

// runSandboxLine runs a command line with command in place of sandbox.Command.
func runSandboxLine(ctx context.Context, command sandboxCommand, args ...string) (code int, stdout, stderr string) {
	var out, narration bytes.Buffer
	build := func(s cli.Streams) *cobra.Command {
		root := &cobra.Command{Use: "caller"}
		root.AddCommand(newSandboxWith(s, command))
		return root
	}
	code = cli.Run(ctx, build, append([]string{"sandbox"}, args...), cli.Streams{In: nil, Out: &out, Err: &narration})
	return code, out.String(), narration.String()
}

func TestSandboxCommandLine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("a sandbox needs Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name    string
		args    []string
		retries int
		argv    []string
		code    int
		stderr  string
	}{
		{"a command", []string{"--", "curl", "-v", "--help"}, 0, []string{"curl", "-v", "--help"}, 0, ""},
		{"without dashes", []string{"curl", "--syn-retries", "3"}, 0, []string{"curl", "--syn-retries", "3"}, 0, ""},
		{"this program", []string{"--", "caller", "measure"}, 0, []string{self, "measure"}, 0, ""},
		{
			"syn retries",
			[]string{"--syn-retries", "1", "--", "curl"},
			1,
			[]string{"curl"},
			0, "sandbox: tcp_syn_retries=1: the kernel ends an unanswered connect after nominally 3s\n",
		},
		{"no command", nil, 0, nil, 2, "caller: sandbox: no COMMAND; try: caller sandbox -- caller measure http://192.0.2.1/\n"},
		{"nothing after the dashes", []string{"--"}, 0, nil, 2, "caller: sandbox: no COMMAND; try: caller sandbox -- caller measure http://192.0.2.1/\n"},
		{"zero", []string{"--syn-retries", "0", "--", "curl"}, 0, nil, 2, "caller: sandbox: --syn-retries 0: from 1 to 127\n"},
		{"negative", []string{"--syn-retries=-1", "--", "curl"}, 0, nil, 2, "caller: sandbox: --syn-retries -1: from 1 to 127\n"},
		{"too many", []string{"--syn-retries", "128", "--", "curl"}, 0, nil, 2, "caller: sandbox: --syn-retries 128: from 1 to 127\n"},
		{"no number", []string{"--syn-retries", "few", "--", "curl"}, 0, nil, 2, `invalid argument "few"`},
		{"no such number", []string{"--syn-retries", "99999999999999999999", "--", "curl"}, 0, nil, 2, "out of range"},
		{"no such flag", []string{"--syn-retry", "1", "--", "curl"}, 0, nil, 2, `try "caller sandbox --help"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var opts sandbox.Options
			var argv []string
			code, stdout, stderr := runSandboxLine(t.Context(), func(_ context.Context, o sandbox.Options, name string, args ...string) (*exec.Cmd, error) {
				opts, argv = o, append([]string{name}, args...)
				return nothing(t)
			}, c.args...)
			if code != c.code || opts.SynRetries != c.retries || !slices.Equal(argv, c.argv) {
				t.Errorf("sandbox %q: code %d, retries %d, command %q; want %d, %d, %q",
					c.args, code, opts.SynRetries, argv, c.code, c.retries, c.argv)
			}
			if stdout != "" || !strings.Contains(stderr, c.stderr) || strings.Count(stderr, "\n") > 1 {
				t.Errorf("sandbox %q: stdout %q, stderr %q; want none, and one line with %q", c.args, stdout, stderr, c.stderr)
			}
		})
	}
}

// nothing is a command that does nothing, anywhere.
func nothing(t *testing.T) (*exec.Cmd, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$", "-test.list=^$")
	return cmd, nil
}

func TestSandboxErrors(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	unavailable := fmt.Errorf("%w: in a user namespace: operation not permitted", sandbox.ErrUnavailable)
	for _, c := range []struct {
		name   string
		ctx    context.Context
		err    error
		code   int
		stderr string
	}{
		{
			"no namespaces", t.Context(), unavailable, 1,
			"caller: sandbox: no private network on this system: in a user namespace: operation not permitted; " +
				"on loopback there is a black hole all the same: partner --mode connect-timeout\n",
		},
		{
			"no such command", t.Context(), &exec.Error{Name: "x", Err: exec.ErrNotFound}, 127,
			"caller: sandbox: exec: \"x\": executable file not found in $PATH\n",
		},
		{
			"no such file", t.Context(), &exec.Error{Name: "./x", Err: os.ErrNotExist}, 127,
			"caller: sandbox: exec: \"./x\": file does not exist\n",
		},
		{
			"not executable", t.Context(), &exec.Error{Name: "./x", Err: os.ErrPermission}, 126,
			"caller: sandbox: exec: \"./x\": permission denied\n",
		},
		{"something else", t.Context(), errors.New("no more pipes"), 1, "caller: sandbox: no more pipes\n"},
		{"interrupted", canceled, context.Canceled, 130, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := runSandboxLine(c.ctx, func(context.Context, sandbox.Options, string, ...string) (*exec.Cmd, error) {
				return nil, c.err
			}, "--", "x")
			if code != c.code || stdout != "" || stderr != c.stderr {
				t.Errorf("error %v: code %d, stdout %q, stderr %q; want %d, none, %q", c.err, code, stdout, stderr, c.code, c.stderr)
			}
		})
	}
}
