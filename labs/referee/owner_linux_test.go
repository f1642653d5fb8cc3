package referee

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestForeign holds to whom a socket belongs: a child that has dropped its
// environment is still the program's, and another process is not.
func TestForeign(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var inode uint32
	if err := raw.Control(func(fd uintptr) {
		name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
		n, err2 := strconv.ParseUint(strings.Trim(name, "socket:[]"), 10, 32)
		if err != nil || err2 != nil {
			t.Errorf("inode of %q: %v, %v", name, err, err2)
		}
		inode = uint32(n)
	}); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("sleep", "60")
	other.Env = []string{mark + "=ours"}
	other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	self, parent := os.Getpid(), os.Getppid()
	for _, c := range []struct {
		name  string
		inode uint32
		pids  []int
		marks []string
		want  bool
	}{
		{"the program's own", inode, []int{self}, nil, false},
		{"a child's of the program", inode, []int{parent}, nil, false},
		{"another program's", inode, []int{other.Process.Pid}, []string{"ours"}, true},
		{"nobody's", 1, []int{other.Process.Pid}, nil, false},
		{"not told by the kernel", 0, []int{other.Process.Pid}, nil, false},
	} {
		if got := foreign(c.inode, c.pids, c.marks); got != c.want {
			t.Errorf("%s: foreign %v, want %v", c.name, got, c.want)
		}
	}
}

// TestWaitedForCore holds that a program's children are looked at too.
func TestWaitedForCore(t *testing.T) {
	t.Parallel()
	if _, ok := readWait("/proc/self/schedstat"); !ok {
		t.Skip("this kernel does not tell how long a thread waits")
	}
	cmd := exec.Command("sh", "-c", "sleep 60 & sleep 60 & echo there; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if got := waitedForCore(cmd.Process.Pid); len(got) != 3 {
		t.Errorf("threads looked at: %v, want three", got)
	}
	// A process is known by its number and when it was started, not by one of them.
	at := startedAt(cmd.Process.Pid)
	for kin, want := range map[string]int{at: 1, at + "1": 0, "": 0} {
		if got := leftOf(0, "none of these=1", map[int]string{cmd.Process.Pid: kin}, false); got != want || at == "" {
			t.Errorf("kin started at %q: %d left, want %d (it was started at %q)", kin, got, want, at)
		}
	}
	if got := waitedForCore(1 << 30); len(got) != 0 {
		t.Errorf("threads of no process: %v, want none", got)
	}
}
