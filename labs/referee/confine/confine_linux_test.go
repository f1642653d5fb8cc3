package confine

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if code, handled := Main(os.Args); handled {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

func needLandlock(t *testing.T) {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
}

// TestWrites holds where a confined command can write, and that what it may not is
// still as it was.
func TestWrites(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	for _, c := range []struct {
		name, script string
		ok           bool
	}{
		{"a file inside", "echo x >in/new && mkdir in/sub && mv in/new in/sub/old && rm in/sub/old", true},
		{"from one folder to the other", "echo x >in/new && mv in/new tmp/new", true},
		{"a link to what is inside", "ln -s ../in in/self && echo x >in/self/new", true},
		{"a file that is allowed alone", "echo x >alone", true},
		{"beside the file that is allowed alone", "echo x >alone2", false},
		{"/dev/null and what is open", "echo x >/dev/null && echo x >/dev/stderr", true},
		{"reads outside", "cat out/kept >/dev/null && ls out", true},
		{"a new file outside", "echo x >out/new", false},
		{"over a file outside", "echo x >out/kept", false},
		{"more in a file outside", "echo x >>out/kept", false},
		{"shortens a file outside", "truncate -s 0 out/kept", false},
		{"takes a file away", "rm -f out/kept", false},
		{"moves a file in", "mv -f out/kept in/", false},
		{"moves a file out", "echo x >in/new; mv in/new out/", false},
		{"a folder outside", "mkdir out/sub", false},
		{"through dots", "echo x >in/../out/new", false},
		{"through a link", "ln -s ../out in/link && echo x >in/link/new", false},
		{"by a child in a session of its own", "setsid sh -c 'echo x >out/new'", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, sub := range []string{"in", "out", "tmp"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range map[string]string{"out/kept": "kept", "alone": ""} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", "-c", c.script)
			cmd.Dir = dir
			at := func(name string) string { return filepath.Join(dir, name) }
			child, err := Wrap(cmd, []string{at("in"), at("tmp"), at("alone"), at("not-there"), os.DevNull})
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			cmd.Stderr = &said
			if err := child.Started(cmd.Start()); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			if (err == nil) != c.ok {
				t.Errorf("%s: %v, %q; want success %v", c.script, err, said.String(), c.ok)
			}
			if !c.ok && !strings.Contains(said.String(), "ermission denied") {
				t.Errorf("%s: stderr %q, want that permission was denied", c.script, said.String())
			}
			if text, err := os.ReadFile(at("out/kept")); string(text) != "kept" {
				t.Errorf("%s: the file outside holds %q, %v; want it as it was", c.script, text, err)
			}
			if all, err := os.ReadDir(at("out")); len(all) != 1 {
				t.Errorf("%s: outside there are %v, %v; want one file", c.script, all, err)
			}
		})
	}
}

// TestNotStarted holds that why a command did not start is told, as Start tells it.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Wrap(exec.Command("no-such-program-here"), nil); err == nil {
		t.Error("Wrap of a program that is not there: no error")
	}
	cmd := exec.Command(bad)
	child, err := Wrap(cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Started(cmd.Start()); err == nil || !strings.Contains(err.Error(), bad+": no such file") {
		t.Errorf("Started: %v, want that the interpreter is not there", err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("Wait: %v, want exit %d", err, exitFailed)
	}
}

// TestSignals holds that a confined command can end its own children but not a
// process that it did not start, and can itself be ended from outside.
func TestSignals(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	if abi, _ := version(); abi < abiScope {
		t.Skipf("version %d of Landlock leaves signals free", abi)
	}
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	cmd := exec.Command("sh", "-c", `sleep 60 & kill $! || exit 1; kill "$0" 2>/dev/null && exit 2; echo tried; exec sleep 60`, strconv.Itoa(other.Process.Pid))
	child, err := Wrap(cmd, []string{os.DevNull})
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Started(cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "tried\n" {
		t.Errorf("it said %q, %v; want that it tried", line, err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process beside it: %v, want that it lives", err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("ending it: %v", err)
	}
	if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want by SIGTERM", err)
	}
}

func TestMainOfOthers(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"caller"}, {"caller", "lab", helperName}} {
		if code, handled := Main(args); handled || code != 0 {
			t.Errorf("Main(%q) = %d, %v; want 0, false", args, code, handled)
		}
	}
	for _, args := range [][]string{nil, {"x"}, {"1", "a"}, {"-1", "a", "b"}, {"2", "a", "b", "c"}} {
		if err := become(args); err == nil || !strings.Contains(err.Error(), "only for a referee") {
			t.Errorf("become(%q): %v, want a refusal", args, err)
		}
	}
}

// TestArgs holds that a command can be confined by whoever starts this program in a
// way of his own.
func TestArgs(t *testing.T) {
	t.Parallel()
	needLandlock(t)
	dir := t.TempDir()
	for _, c := range []struct{ script, want string }{
		{"echo x >in; echo $0 $1 $?", "a b 0\n"},
		{"(echo x >out) 2>/dev/null; echo $?", "2\n"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "in"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", Args([]string{filepath.Join(dir, "in"), os.DevNull}, sh, []string{"sh", "-c", c.script, "a", "b"})...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); string(out) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.script, out, err, c.want)
		}
	}
	out, err := exec.Command("/proc/self/exe", Args(nil, filepath.Join(dir, "none"), []string{"none"})...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), helperName+": exec ") {
		t.Errorf("a command that is not there: %q, %v; want that it was not executed", out, err)
	}
}
