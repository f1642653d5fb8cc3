package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// slack is how much later than its limit something may be noticed on a machine
// that is busy with other things. patience bounds a wait for what must come.
const (
	slack    = 1500 * time.Millisecond
	patience = 20 * time.Second
)

// helperEnv names what this test binary does instead of testing: it is also the
// command in the sandbox, and the program that starts one.
const helperEnv = "SANDBOX_TEST_HELPER"

func TestMain(m *testing.M) {
	// The race detector makes every process wait a second before it ends.
	if err := os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	helper := os.Getenv(helperEnv)
	if helper == "forgetful" {
		os.Exit(tell(Available()))
	}
	if code, handled := Main(os.Args); handled {
		os.Exit(code)
	}
	switch helper {
	case "":
		goleak.VerifyTestMain(m)
	case "available":
		os.Exit(tell(Available()))
	case "no-namespaces":
		if err := os.WriteFile("/proc/sys/user/max_net_namespaces", []byte("0"), 0); err != nil {
			os.Exit(tell(err))
		}
		os.Exit(tell(Available()))
	case "dial":
		dialAll(os.Args[1:])
	case "signals":
		tellSignals()
	case "outer":
		os.Exit(outer(os.Args[1:]))
	}
}

// tell prints an error, or that there is none, and returns an exit code.
func tell(err error) int {
	fmt.Println("error:", err)
	if err != nil {
		return exitFailed
	}
	return 0
}

// outer is what "caller sandbox" does: helper name and arguments are the command.
func outer(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := os.Setenv(helperEnv, args[0]); err != nil {
		return tell(err)
	}
	name, rest := args[1], args[2:]
	if name == "self" {
		name, _ = os.Executable()
	}
	cmd, err := Command(ctx, Options{}, name, rest...)
	if errors.Is(err, ErrUnavailable) {
		fmt.Println("unavailable:", err)
		return exitFailed
	}
	if err != nil {
		return tell(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	code, err := Run(ctx, cmd)
	if err != nil {
		return tell(err)
	}
	return code
}

// tellSignals prints where it runs and then the name of each signal; 300 ms
// after the first one it ends with 40.
func tellSignals() {
	got := make(chan os.Signal, 16)
	signal.Notify(got, passedOn()...)
	ns, _ := os.Readlink(netNamespace)
	fmt.Println("ready", ns, "inside", Inside(), "uid", os.Getuid())
	var end <-chan time.Time
	for {
		select {
		case s := <-got:
			fmt.Println(unix.SignalName(s.(syscall.Signal)))
			if end == nil {
				end = time.After(300 * time.Millisecond)
			}
		case <-end:
			os.Exit(40)
		}
	}
}

func need(t *testing.T) {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// helperEnviron is the environment in which this binary is that helper.
func helperEnviron(helper string) []string { return append(os.Environ(), helperEnv+"="+helper) }

// inSandbox returns this binary as a helper in a sandbox.
func inSandbox(t *testing.T, opts Options, helper string, args ...string) *exec.Cmd {
	t.Helper()
	need(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	cmd, err := Command(ctx, opts, self(t), args...)
	if err != nil {
		t.Fatalf("Command(%+v, %s): %v", opts, helper, err)
	}
	cmd.Env = helperEnviron(helper)
	return cmd
}

// outerCommand returns this binary as a program of its own, without a
// controlling terminal, that runs name in a sandbox.
func outerCommand(t *testing.T, helper, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self(t), append([]string{helper, name}, args...)...)
	cmd.Env = helperEnviron("outer")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// exitCode is the code that a finished cmd ended with.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatalf("run: %v", err)
	return 0
}

// within calls done until it is true, and fails after patience.
func within(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// processesWith returns the processes, of any namespace below ours, with this
// word on their command line, and those in the network namespace ns.
func processesWith(t *testing.T, word, ns string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		in, _ := os.Readlink("/proc/" + e.Name() + "/ns/net")
		if strings.Contains(string(line), word) || in == ns {
			found = append(found, e.Name()+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
