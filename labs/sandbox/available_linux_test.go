package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWithoutRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("not root: every other test shows that it works without")
	}
	const nobody = 65534
	helper := filepath.Join(publicDir(t), "helper")
	copyFile(t, self(t), helper)
	cmd := exec.CommandContext(t.Context(), helper, "signals", "self")
	cmd.Env = helperEnviron("outer")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL,
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, _ := out.Read(line)
	said := strings.TrimSpace(string(line[:n]))
	_ = cmd.Process.Signal(unix.SIGTERM)
	_, _ = io.Copy(io.Discard, out)
	code := exitCode(t, cmd.Wait())
	if strings.HasPrefix(said, "unavailable: ") {
		t.Skip(said)
	}
	if !strings.HasSuffix(said, "inside true uid 65534") || code != 40 {
		t.Errorf("as nobody: %q, exit code %d; want it inside, uid 65534, and 40", said, code)
	}
}

// publicDir is a directory that every user can read.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// copyFile lets another process write: a child that a parallel test forks while
// this one has the file open for writing would make it "text file busy".
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
	if err := os.Chmod(to, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestInsideAnother(t *testing.T) {
	t.Parallel()
	cmd := inSandbox(t, Options{}, "available")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("a sandbox in a sandbox: %v: %s", err, out)
	}
}

func TestForgottenMain(t *testing.T) {
	t.Parallel()
	need(t)
	cmd := exec.CommandContext(t.Context(), self(t))
	cmd.Env = helperEnviron("forgetful")
	out, err := cmd.CombinedOutput()
	if want := "does not call sandbox.Main"; exitCode(t, err) != exitFailed || !strings.Contains(string(out), want) {
		t.Errorf("without Main: %v: %s; want exit code %d and %q", err, out, exitFailed, want)
	}
}

// A real refusal: a user namespace that may have no further network namespaces.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	need(t)
	cmd := exec.CommandContext(t.Context(), self(t))
	cmd.Env = helperEnviron("no-namespaces")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("no user namespaces here: %v", err)
	}
	got := strings.TrimSpace(string(out))
	for _, want := range []string{ErrUnavailable.Error(), "user.max_net_namespaces=0", "with"} {
		if !strings.Contains(got, want) || strings.Contains(got, "\n") || exitCode(t, err) != exitFailed {
			t.Errorf("Available() said %q, %v; want one line with %q and exit code %d", got, err, want, exitFailed)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		euid  int
		fails map[bool]error // by userNS
		want  way
		err   string
	}{
		{"root, all works", 0, nil, way{"without a user namespace", false}, ""},
		{"root in a container", 0, map[bool]error{false: unix.EPERM}, way{"in a user namespace", true}, ""},
		{"user, all works", 1000, nil, way{"in a user namespace", true}, ""},
		{"capable user", 1000, map[bool]error{true: unix.EPERM}, way{"without a user namespace", false}, ""},
		{
			"nothing works", 1000,
			map[bool]error{true: unix.ENOSPC, false: unix.EPERM},
			way{},
			"no private network on this system: in a user namespace: no space left on device; " +
				"without a user namespace: operation not permitted",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := choose(t.Context(), Options{}, ways(c.euid), func(_ context.Context, _ Options, w way) error {
				return c.fails[w.userNS]
			})
			if got != c.want {
				t.Errorf("euid %d, failures %v: %+v, want %+v", c.euid, c.fails, got, c.want)
			}
			if said := ""; (err != nil) != (c.err != "") {
				t.Errorf("euid %d, failures %v: error %v, want %q", c.euid, c.fails, err, c.err)
			} else if err != nil {
				if said = err.Error(); said != c.err || !errors.Is(err, ErrUnavailable) {
					t.Errorf("euid %d, failures %v: error %q, want %q", c.euid, c.fails, said, c.err)
				}
			}
		})
	}
}
