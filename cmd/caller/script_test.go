package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"chaoslab/faults"
	"chaoslab/faults/admin"
	"chaoslab/labs/referee/confine"
	"chaoslab/labs/sandbox"
)

func TestMain(m *testing.M) {
	// The demo starts this program again as the first process of a sandbox.
	if code, handled := sandbox.Main(os.Args); handled {
		os.Exit(code)
	}
	if code, handled := confine.Main(os.Args); handled {
		os.Exit(code)
	}
	testscript.Main(leakChecked{m}, map[string]func(){"caller": main, "beside": beside})
}

// beside is a command: beside MODE COMMAND ARGS runs COMMAND beside a partner of
// that mode, with its URL in place of the word URL.
func beside() {
	if err := runBeside(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

func runBeside(fault string, argv []string) error {
	spec, err := faults.Parse(fault)
	if err != nil {
		return err
	}
	partner, err := faults.Start(faults.Config{Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{spec}}}})
	if err != nil {
		return err
	}
	defer partner.Close(context.Background())
	for i, arg := range argv {
		if arg == "URL" {
			argv[i] = partner.Listeners()[0].URL
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// leakChecked runs the tests and then looks for goroutines left behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			return 1
		}
	}
	return code
}

// watchdog is what no command of a script may take, slack for a busy machine
// included.
const watchdog = 10 * time.Second

// scriptFaults is what the partner of each script does, and the variable that
// holds the URL.
func scriptFaults() []struct{ variable, fault string } {
	return []struct{ variable, fault string }{
		{"OK", "ok"},
		{"REFUSED", "refused"},
		{"BLACKHOLE", "connect-timeout"},
		{"HANG", "read-timeout"},
		{"SLOW", "slow:delay=100ms"},
		{"LOST", "lost-response"},
		{"BUSY", "status:status=503"},
		{"QUICK", "slow:delay=20ms"},
		{"FLAKY", "status:status=503,when=first=2"},
	}
}

type partnerKey struct{}

// TestScripts runs testdata/script/*.txt, each beside a partner of its own. The
// variables of scriptFaults hold the URLs of its listeners, ADMIN that of its
// admin port, EXAMPLES the folder of the project's examples, TESTNET the network that is a black hole in a sandbox and
// BLACKHOLE_ADDR an address of it. Beside testscript's own commands there are
//
//	code N COMMAND ARGS  runs it under a watchdog and wants exit code N
//	retry N REGEXP COMMAND ARGS
//	                     wants exit code 0 and stdout to match, of one of N runs: for
//	                     what a busy machine can spoil. stdout is that of the last
//	reached MODE         waits until a request of that mode is under way
//	saw N VARIABLE       wants that many requests at the listener whose URL it holds
//	columns N            wants no line of stdout longer than that
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup:         startPartner,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":    scriptCode,
			"retry":   scriptRetry,
			"reached": scriptReached,
			"saw":     scriptSaw,
			"columns": scriptColumns,
		},
		Condition: func(name string) (bool, error) {
			if name == "sandbox" {
				err := sandbox.Available()
				if err != nil {
					t.Logf("no sandbox here: %v", err)
				}
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

func startPartner(env *testscript.Env) error {
	var cfg faults.Config
	for _, f := range scriptFaults() {
		spec, err := faults.Parse(f.fault)
		if err != nil {
			return err
		}
		l := faults.ListenerConfig{Faults: []faults.Spec{spec}}
		if f.variable == "FLAKY" {
			l.Name = "flaky" // there is a status already
		}
		if f.variable == "QUICK" {
			l.Name = "quick" // and a slow
		}
		cfg.Listeners = append(cfg.Listeners, l)
	}
	partner, err := faults.Start(cfg)
	if err != nil {
		return err
	}
	env.Defer(func() { _ = partner.Close(context.Background()) })
	server, err := admin.Start(admin.Config{Partner: partner, Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	env.Defer(func() { _ = server.Close(context.Background()) })
	for i, l := range partner.Listeners() {
		env.Setenv(scriptFaults()[i].variable, l.URL)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLES", examples)
	env.Setenv("ADMIN", server.URL())
	env.Setenv("TESTNET", sandbox.BlackHole().String())
	env.Setenv("BLACKHOLE_ADDR", blackHole().String()) // for use in a sandbox only
	// The race detector makes every process wait a second before it exits.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	env.Values[partnerKey{}] = partner
	return nil
}

func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND ARGS")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	watched(ts, want, args[1:], ts.Stdout(), ts.Stderr())
}

func scriptRetry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: retry N REGEXP COMMAND ARGS")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	for n := 1; ; n++ {
		var stdout, stderr bytes.Buffer
		watched(ts, 0, args[2:], &stdout, &stderr)
		if matches := pattern.Match(stdout.Bytes()); matches || n == most {
			_, _ = ts.Stdout().Write(stdout.Bytes())
			_, _ = ts.Stderr().Write(stderr.Bytes())
			if !matches {
				ts.Fatalf("%q: no match for %q in any of %d runs, the last:\n%s", args[2:], args[1], most, stdout.Bytes())
			}
			return
		}
	}
}

// watched runs a command under the watchdog and wants that exit code.
func watched(ts *testscript.TestScript, want int, argv []string, stdout, stderr io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	for _, name := range []string{"PATH", "HOME", "GORACE", "LC_ALL", "http_proxy", "HTTP_PROXY"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		ts.Fatalf("%q still ran after %v", argv, watchdog)
	case err != nil && !errors.As(err, &exit):
		ts.Fatalf("%q: %v", argv, err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%q: exit code %d, want %d", argv, got, want)
	}
}

func scriptReached(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: reached MODE")
	}
	partner, _ := ts.Value(partnerKey{}).(*faults.Partner)
	for end := time.Now().Add(watchdog); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, e := range partner.Ledger().Entries(faults.Query{}) {
			if e.Kind == sawRequest && e.Mode == args[0] && !e.Ended() {
				return
			}
		}
	}
	ts.Fatalf("no request reached %s within %v", args[0], watchdog)
}

func scriptSaw(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: saw N VARIABLE")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	partner, _ := ts.Value(partnerKey{}).(*faults.Partner)
	got := 0
	for _, l := range partner.Listeners() {
		if l.URL == ts.Getenv(args[1]) {
			for _, e := range partner.Ledger().Entries(faults.Query{Listener: l.Name}) {
				if e.Kind == sawRequest {
					got++
				}
			}
		}
	}
	if got != want {
		ts.Fatalf("%s saw %d requests, want %d", args[1], got, want)
	}
}

func scriptColumns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: columns N")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > most {
			ts.Fatalf("%d columns, want at most %d: %s", n, most, line)
		}
	}
}
