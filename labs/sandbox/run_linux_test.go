package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	need(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	broken := filepath.Join(dir, "broken")
	for path, mode := range map[string]os.FileMode{plain: 0o644, broken: 0o755} {
		if err := os.WriteFile(path, []byte("no program\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		name    string
		command []string
		code    int
		stderr  string
	}{
		{"success", []string{"true"}, 0, ""},
		{"failure", []string{"false"}, 1, ""},
		{"a code", []string{"sh", "-c", "exit 42"}, 42, ""},
		{"killed", []string{"sh", "-c", "kill -KILL $$"}, 137, ""},
		{"terminated", []string{"sh", "-c", "kill -TERM $$"}, 143, ""},
		{"an orphan ends first", []string{"sh", "-c", "(sh -c 'exit 3' &); exec sleep 0.2"}, 0, ""},
		{"not a program", []string{broken}, exitNotExecutable, "sandbox: " + broken + ": exec format error\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd, err := Command(t.Context(), Options{}, c.command[0], c.command[1:]...)
			if err != nil {
				t.Fatalf("Command(%q): %v", c.command, err)
			}
			var stderr strings.Builder
			cmd.Stderr = &stderr
			code := exitCode(t, cmd.Run())
			if code != c.code || stderr.String() != c.stderr {
				t.Errorf("%q: exit code %d, stderr %q; want %d, %q", c.command, code, stderr.String(), c.code, c.stderr)
			}
		})
	}
	for name, want := range map[string]error{
		"no-such-command-here":        exec.ErrNotFound,
		filepath.Join(dir, "nowhere"): os.ErrNotExist,
		plain:                         os.ErrPermission,
	} {
		if cmd, err := Command(t.Context(), Options{}, name); !errors.Is(err, want) {
			t.Errorf("Command(%q) = %v, %v; want %v", name, cmd, err, want)
		}
	}
}

func TestEnvironmentStreamsAndDirectory(t *testing.T) {
	t.Parallel()
	need(t)
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd, err := Command(t.Context(), Options{}, "sh", "-c", `cat; pwd; echo "$A $`+EnvVar+` $0"; echo three >&3; id -u`, "zero")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "A=b")
	cmd.Stdin = strings.NewReader("in\n")
	cmd.ExtraFiles = []*os.File{w}
	out, err := cmd.Output()
	w.Close()
	three, _ := io.ReadAll(r)
	id, _ := exec.Command("id", "-u").Output()
	want := "in\n" + dir + "\nb 192.0.2.0/24 zero\n" + string(id)
	if err != nil || string(out) != want || string(three) != "three\n" {
		t.Errorf("got %q, %q, %v; want %q, \"three\\n\"", out, three, err, want)
	}
}

// start starts cmd, which runs the helper "signals", and returns the rest of
// its output after the line that says it is ready.
func start(t *testing.T, cmd *exec.Cmd) (ready string, rest *bufio.Scanner) {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	if ready = lines.Text(); !strings.HasPrefix(ready, "ready") {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("%q: first line %q, want ready", cmd.Args, ready)
	}
	return ready, lines
}

func remaining(lines *bufio.Scanner) []string {
	var all []string
	for lines.Scan() {
		all = append(all, lines.Text())
	}
	return all
}

// Each signal arrives once, whether it was sent to the command that Command
// returned or to the process that called Run.
func TestSignalsArePassedOnOnce(t *testing.T) {
	t.Parallel()
	need(t)
	for _, sig := range passedOn() {
		name := unix.SignalName(sig.(syscall.Signal))
		for _, c := range []struct {
			to  string
			cmd func(*testing.T) *exec.Cmd
		}{
			{"command", func(t *testing.T) *exec.Cmd { return inSandbox(t, Options{}, "signals") }},
			{"run", func(t *testing.T) *exec.Cmd { return outerCommand(t, "signals", "self") }},
		} {
			t.Run(name+" to "+c.to, func(t *testing.T) {
				t.Parallel()
				cmd := c.cmd(t)
				_, lines := start(t, cmd)
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				got := remaining(lines)
				code := exitCode(t, cmd.Wait())
				if !slices.Equal(got, []string{name}) || code != 40 {
					t.Errorf("%s to %s: the command saw %q and ended with %d, want it once and 40", name, c.to, got, code)
				}
			})
		}
	}
}

func TestCanceledContext(t *testing.T) {
	t.Parallel()
	need(t)
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if cmd, err := Command(ctx, Options{}, "true"); !errors.Is(err, context.Canceled) {
			t.Errorf("Command with a canceled context = %v, %v; want context.Canceled", cmd, err)
		}
	})
	t.Run("while it runs", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cmd, err := Command(ctx, Options{}, "sleep", "60")
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(200*time.Millisecond, cancel)
		begin := time.Now()
		code, err := Run(ctx, cmd)
		if elapsed := time.Since(begin); !errors.Is(err, context.Canceled) || elapsed > patience {
			t.Errorf("Run = %d, %v after %v; want context.Canceled at once", code, err, elapsed)
		}
	})
}
