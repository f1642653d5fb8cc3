package referee

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent ends the program if the referee is killed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// boundFiles bounds each file that the process and its children write. Go cannot
// set it before the program begins; the little it may do before is no matter.
func boundFiles(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: maxFile, Max: maxFile}, nil)
	_ = unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
}

// leftOf counts the processes that have the entry in their environment or are kin,
// whatever their group, and ends them if it is told to. Those that have ended and
// wait for their parent do not count: their environment is empty.
func leftOf(_ int, entry string, kin map[int]string, kill bool) int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	n := 0
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(dir + "/environ")
		marked := err == nil && hasEntry(env, entry)
		if !marked && (kin[pid] == "" || kin[pid] != startedAt(pid)) {
			continue
		}
		n++
		if kill {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return n
}

// startedAt returns when a process was started, in the kernel's own count, or "" if
// there is none or it has ended: a number of a process alone may be another's by now.
func startedAt(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// Behind the name, which may hold anything: state is the 3rd field of proc(5),
	// starttime the 22nd.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}

func hasEntry(env []byte, entry string) bool {
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if string(one) == entry {
			return true
		}
	}
	return false
}

// maxTasks bounds how many threads of a program are looked at.
const maxTasks = 256

// waitedForCore returns for each thread of a process and of its descendants how
// long it could have run and did not, as the kernel counts it (proc(5), schedstat).
func waitedForCore(pid int) map[task]time.Duration {
	waited := map[task]time.Duration{}
	for family := []int{pid}; len(family) > 0; family = family[1:] {
		dir := "/proc/" + strconv.Itoa(family[0]) + "/task/"
		threads, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended
		}
		for _, t := range threads {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || len(waited) == maxTasks {
				continue
			}
			if d, ok := readWait(dir + t.Name() + "/schedstat"); ok {
				waited[task{family[0], tid}] = d
			}
			family = append(family, readChildren(dir+t.Name()+"/children")...)
		}
	}
	return waited
}

// runnable returns how many threads of the machine run or could run (proc(5),
// loadavg), without the one that asks.
func runnable() (int, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0, false
	}
	now, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.Atoi(now)
	return n - 1, err == nil
}

func readWait(path string) (time.Duration, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	ns, err := strconv.ParseInt(fields[1], 10, 64)
	return time.Duration(ns), err == nil
}

// readChildren returns the processes that a thread has started, where the kernel
// tells it.
func readChildren(path string) []int {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && len(pids) < maxTasks {
			pids = append(pids, pid)
		}
	}
	return pids
}
