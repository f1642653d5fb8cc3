//go:build unix

package referee

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"chaoslab/internal/stall"
	"chaoslab/labs/referee/confine"
	"chaoslab/labs/sandbox"
)

func TestMain(m *testing.M) {
	if code, handled := sandbox.Main(os.Args); handled {
		os.Exit(code)
	}
	if code, handled := confine.Main(os.Args); handled {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

// slack is what a busy machine may add to a bound.
const slack = 3 * time.Second

// testLab is an exercise of one scenario with a short limit.
func testLab(t *testing.T, checks string) *Lab {
	t.Helper()
	lab, err := Load(fstest.MapFS{"lab.yaml": &fstest.MapFile{Data: []byte(`
number: 99
name: test
title: a test
minutes: 1
hints: [a, b, c]
scenarios:
  - name: only
    tells: nothing
    limit_ms: 2500
    partners: [{name: shop, faults: [ok]}]
    checks:
` + checks)}})
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

// prepare makes a program of a shell script.
func prepare(t *testing.T, script string) *Program {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.sh": script, RunFile: "# a comment\n\nsh main.sh\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Prepare(t.Context(), ProgramConfig{Dir: dir, Env: append(os.Environ(), "http_proxy=http://127.0.0.1:1", "LAB_URL=old"), Confine: true, Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestBadPrograms holds that whatever a program does it is bounded, ended with
// all its children, and told.
func TestBadPrograms(t *testing.T) {
	t.Parallel()
	machine := stall.Start()
	t.Cleanup(machine.Stop)
	for _, c := range []struct {
		name, script string
		check        string // of the first finding that is bad
		seen         string // a part of it
	}{
		{"hangs", "exec sleep 60", OwnEnds, "still running after 2.5s"},
		{"ignores SIGTERM", "trap '' TERM; while :; do sleep 0.1; done", OwnEnds, "still running"},
		{"leaves a child", "sleep 60 & echo ok", OwnChildren, "1 processes"},
		{"leaves a child in a session of its own", "setsid sleep 60 >/dev/null 2>&1 & sleep 0.2; echo ok", OwnChildren, "1 processes"},
		{"leaves a child that has dropped its environment too", "setsid env -i sleep 61 >/dev/null 2>&1 & sleep 0.4; echo ok", OwnChildren, "1 processes"},
		{"leaves many", "for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait", OwnEnds, "still running"},
		{"prints without end", "exec yes", OwnOutput, "bytes of output"},
		{"prints one endless line", "exec tr '\\0' x </dev/zero", OwnOutput, "bytes of output"},
		{"never calls", "echo ok", "attempts", "0 (nothing reached it)"},
		{"says nothing and why", "echo no such module >&2; exit 1", "attempts", "no such module"},
		{"control characters", "printf '\\033[2J\\001ok\\n'", "attempts", "nothing reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(c.script, "setsid") && !hasKernelTable() {
				t.Skip("a child that left its group is only found where there is /proc")
			}
			lab := testLab(t, "      - {check: attempts, n: '1'}\n      - {check: said, word: ok}\n")
			p := prepare(t, c.script+"\n")
			var wrong []string
			for range 10 {
				start := time.Now()
				g, err := Run(t.Context(), lab, p, Options{})
				if err != nil {
					t.Fatal(err)
				}
				wrong = nil
				scenario, bad := g.FirstBad()
				if g.Verdict != Fail || bad == nil || bad.Check != c.check || !strings.Contains(bad.Seen, c.seen) {
					wrong = append(wrong, fmt.Sprintf("%q: verdict %s, %s: %+v; want fail in %s with %q", c.script, g.Verdict, scenario, bad, c.check, c.seen))
				}
				if took := time.Since(start); took > 2500*time.Millisecond+askFirst+drainDelay+settleLimit+slack+machine.Room(start) {
					wrong = append(wrong, fmt.Sprintf("it took %v", took))
				}
				if bad != nil && len(strings.Split(strings.TrimSpace(bad.Feedback(scenario)), "\n")) != 4 {
					wrong = append(wrong, fmt.Sprintf("feedback: %q, want four lines", bad.Feedback(scenario)))
				}
				// A starved machine may end it before it did its worst.
				if wrong == nil || !g.Scenarios[0].Seen.Noise.Busy() {
					break
				}
			}
			for _, w := range wrong {
				t.Errorf("%s: %s", c.name, w)
			}
			stillThere(t, p)
		})
	}
}

func hasKernelTable() bool {
	_, err := os.Stat("/proc/self/environ")
	return err == nil
}

// stillThere fails if a process that was started with the program's folder for
// passing things lives.
func stillThere(t *testing.T, p *Program) {
	t.Helper()
	if n := leftOf(0, "TMPDIR="+p.scratch, nil, false); hasKernelTable() && n > 0 {
		t.Errorf("%d processes are still there", n)
	}
}

// L1: SIGINT, here the end of the context, ends all within 3 s.
func TestL1InterruptEndsAll(t *testing.T) {
	t.Parallel()
	lab := testLab(t, "      - {check: attempts, n: '1'}\n")
	lab.Scenarios[0].LimitMS = 30_000
	p := prepare(t, "trap '' TERM INT; sleep 60 & while :; do sleep 0.1; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{}, 10)
	go func() {
		<-running
		time.Sleep(200 * time.Millisecond)
		cancel()
	}()
	var ended time.Duration
	start := time.Now()
	_, err := Run(ctx, lab, p, Options{Event: func(e Event) { running <- struct{}{} }})
	ended = time.Since(start)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want %v", err, context.Canceled)
	}
	if ended > slack+200*time.Millisecond {
		t.Errorf("it took %v to end after the interrupt, want 3 s at most", ended)
	}
	stillThere(t, p)
}

func TestEnvironmentOfAProgram(t *testing.T) {
	t.Parallel()
	lab := testLab(t, "      - {check: said, word: '1 none'}\n")
	p := prepare(t, `set -- "$LAB_URL"
case $1 in http://127.0.0.1:*/) n=1 ;; *) n=0 ;; esac
[ "$LAB_URL" = "$LAB_URL_SHOP" ] || n=2
echo "$n ${http_proxy-none}"
printf '\n\n'
`)
	g, err := Run(t.Context(), lab, p, Options{})
	if err != nil || g.Verdict != Pass {
		t.Errorf("Run: %v, %+v, want a pass", err, g.Scenarios)
	}
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, run, want string }{
		{"no file", "", "which program?"},
		{"empty", "# nothing\n", "holds no command"},
		{"two lines", "sh a\nsh b\n", "a second one: sh b"},
		{"open quote", "sh 'a\n", "a quote is not closed"},
		{"no such program", "no-such-program-here\n", "no-such-program-here"},
		{"no such file", "./main\n", "main"},
		{"does not compile", "go run .\n", "go build:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.run != "" {
				if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(c.run), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p, err := Prepare(t.Context(), ProgramConfig{Dir: dir, Env: os.Environ()})
			if err == nil {
				_ = p.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Prepare with run %q: %v, want one line with %q", c.run, err, c.want)
			}
		})
	}
}
