package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestQuitPrintsNoStacks: whenever SIGQUIT comes, the first process of a sandbox
// ends quietly, or hands it to the command.
func TestQuitPrintsNoStacks(t *testing.T) {
	t.Parallel()
	need(t)
	for _, after := range []time.Duration{0, 0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
		if err != nil {
			t.Fatal(err)
		}
		defer said.Close()
		cmd := outerCommand(t, "", "sleep", "30")
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first := 0
		within(t, "the first process", func() bool { first = firstProcess(cmd.Process.Pid); return first != 0 })
		time.Sleep(after)
		for until := time.Now().Add(patience); time.Now().Before(until) && unix.Kill(first, unix.SIGQUIT) == nil; {
			time.Sleep(200 * time.Microsecond)
		}
		code := exitCode(t, cmd.Wait())
		text, err := os.ReadFile(said.Name())
		if code != 2 && code != exitSignal+int(unix.SIGQUIT) || len(text) > 0 || err != nil {
			t.Errorf("SIGQUIT from %v on: exit code %d, printed %.200q, %v; want 2 or %d, and nothing", after, code, text, err, exitSignal+int(unix.SIGQUIT))
		}
	}
}

// firstProcess returns the first process of the sandbox that parent has started,
// as soon as it is there, or 0. It is no probe's.
func firstProcess(parent int) int {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(parent) + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.HasPrefix(string(line), initName+"\x00run\x00") {
				pid, _ := strconv.Atoi(child)
				return pid
			}
		}
	}
	return 0
}

// TestStderrIsTheCommands: it has its stderr, no other descriptor, and its
// environment.
func TestStderrIsTheCommands(t *testing.T) {
	t.Parallel()
	need(t)
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd, err := Command(t.Context(), Options{}, "sh", "-c", `echo here >&2; env | grep `+stderrVar+` >&2; ls -l /proc/self/fd | grep stderr >&2`)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = said
	if code, err := Run(t.Context(), cmd); code != 0 || err != nil {
		t.Errorf("Run: %d, %v", code, err)
	}
	text, err := os.ReadFile(said.Name())
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || len(lines) != 2 || !strings.Contains(lines[1], " 2 -> ") || lines[0] != "here" || strings.Contains(string(text), stderrVar) {
		t.Errorf("stderr: %q, %v, want one line, and the file as 2 and nowhere else", text, err)
	}
}
