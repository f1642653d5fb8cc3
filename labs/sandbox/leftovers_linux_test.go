package sandbox

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func interfaces(t *testing.T) []string {
	t.Helper()
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names
}

// However it ends, no process, namespace or interface stays. A network
// namespace lives as long as a process is in it, as nothing here binds or opens
// one.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	need(t)
	cases := []struct {
		name   string
		script string // after it has printed where it runs
		signal syscall.Signal
	}{
		{"normal end", "exit 0", 0},
		{"a background process", "sleep 7000 & exit 0", 0},
		{"a daemon in a session of its own", "setsid sleep 7000 >/dev/null 2>&1 </dev/null & sleep 0.2; exit 0", 0},
		{"outer process interrupted", "exec sleep 7000", unix.SIGINT},
		{"outer process terminated", "exec sleep 7000", unix.SIGTERM},
		{"outer process killed", "sleep 7000 & exec sleep 7000", unix.SIGKILL},
		{"killed, while signals are ignored", "trap '' INT TERM HUP; sleep 7000; sleep 7000", unix.SIGKILL},
	}
	before := interfaces(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			word := fmt.Sprintf("leftover-%d-%d", os.Getpid(), i)
			script := "echo ready $(readlink " + netNamespace + "); : " + word + "; " + c.script
			cmd := outerCommand(t, "", "sh", "-c", script)
			ready, lines := start(t, cmd)
			ns := strings.Fields(ready)[1]
			if own, _ := os.Readlink(netNamespace); ns == own {
				t.Fatalf("it runs in our own network namespace %s", ns)
			}
			if c.signal != 0 {
				if len(processesWith(t, word, ns)) < 3 {
					t.Fatal("the process, the sandbox's first one and the command do not show")
				}
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			remaining(lines)
			_ = cmd.Wait()
			within(t, c.name+": all gone", func() bool { return len(processesWith(t, word, ns)) == 0 })
			if after := interfaces(t); !slices.Equal(after, before) {
				t.Errorf("interfaces: %q before, %q after", before, after)
			}
		})
	}
}
