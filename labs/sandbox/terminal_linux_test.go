package sandbox

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal returns both ends of a pseudo-terminal.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}

// Ctrl-C reaches the command once, like without a sandbox, and what it does with
// it decides the exit code.
func TestControlC(t *testing.T) {
	t.Parallel()
	need(t)
	cases := []struct {
		name, helper string
		command      []string
		code         int
		saw          []string
	}{
		{"handled", "signals", []string{"self"}, 40, []string{"SIGINT"}},
		{"not handled", "", []string{"sh", "-c", "echo ready; exec sleep 7000"}, 130, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			keyboard, tty := terminal(t)
			cmd := outerCommand(t, c.helper, c.command[0], c.command[1:]...)
			cmd.Stdin = tty
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGKILL}
			_, lines := start(t, cmd)
			if _, err := keyboard.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
			saw := remaining(lines)
			if code := exitCode(t, cmd.Wait()); code != c.code || !slices.Equal(saw, c.saw) {
				t.Errorf("Ctrl-C: the command saw %q, exit code %d; want %q, %d", saw, code, c.saw, c.code)
			}
		})
	}
}
