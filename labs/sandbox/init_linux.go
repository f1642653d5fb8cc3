package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit codes of a sandbox besides the command's own, as env(1) and sh use them.
const (
	exitFailed        = 1   // the sandbox could not be set up
	exitNotExecutable = 126 // the command is there and cannot be started
	exitNotFound      = 127 // the command is not there
	exitSignal        = 128 // plus the number of the signal that ended it
)

// Main is the first process of a sandbox, if args, the process's os.Args, say
// that it was started as that: then handled is true, and code is to be the exit
// code of the process. Otherwise it does nothing. Main is the whole of that
// process: it takes its signals, waits for its children and writes the line of
// an error to stderr.
func Main(args []string) (code int, handled bool) {
	if !isInit(args) {
		return 0, false
	}
	return runInit(args[1:], os.Stdout, os.Stderr), true
}

func runInit(args []string, stdout, stderr io.Writer) int {
	// Early, so that no signal is lost: the kernel drops those that the first
	// process of a PID namespace does not handle. To the end: this is the whole of
	// the process.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn()...)
	showStderr()

	j, err := parseJob(args)
	if err == nil {
		err = j.checkNamespaces()
	}
	if err != nil {
		fmt.Fprintf(stderr, "sandbox: %v\n", err)
		return exitFailed
	}
	// For ps, and for Run, which takes it as the sign that signals are handled.
	_ = os.WriteFile("/proc/self/comm", []byte(initName), 0)

	if err := j.setUp(); err != nil {
		fmt.Fprintf(stderr, "sandbox: %v\n", explain(err, true))
		return exitFailed
	}
	if j.probe {
		fmt.Fprintln(stdout, probed)
		return 0
	}
	return j.run(signals, stderr)
}

// checkNamespaces refuses to touch the network of the machine, should somebody
// start this process by hand.
func (j job) checkNamespaces() error {
	own, err := os.Readlink(netNamespace)
	if err != nil {
		return fmt.Errorf("own network namespace: %w", err)
	}
	if own == j.outside || os.Getpid() != 1 {
		return errors.New("not in namespaces of its own: this is only for the sandbox to start")
	}
	return nil
}

func (j job) setUp() error {
	mountProc()
	if err := setUpNetwork(); err != nil {
		return err
	}
	if err := setSynRetries(j.synRetries); err != nil {
		return err
	}
	return checkBlack()
}

// mountProc lets ps, kill and the like see the processes of the sandbox. In a
// container whose /proc is masked the kernel refuses it; then the old one stays,
// which tells about too many processes and harms nothing else.
func mountProc() {
	if unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") != nil {
		return // never mount where the machine outside would see it
	}
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// run starts the command, passes signals on to it, waits for every process that
// ends in the sandbox, and returns the exit code when the command has.
func (j job) run(signals <-chan os.Signal, stderr io.Writer) int {
	// What was needed to set up the network stays with this process. Ambient
	// capabilities belong to a thread, and the child gets those of the thread
	// that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)

	child, err := os.StartProcess(j.path, j.argv, &os.ProcAttr{
		Env:   append(os.Environ(), EnvVar+"="+BlackHole().String()),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		fmt.Fprintf(stderr, "sandbox: %s: %v\n", j.argv[0], errors.Unwrap(err))
		return startCode(err)
	}
	pid := child.Pid
	_ = child.Release()

	// The command stays in the process group that it would be in without a
	// sandbox, so the terminal's signals reach it directly. This process leaves
	// the group: what it gets now was meant for the command alone, and is passed
	// on without ever coming twice.
	_ = unix.Setpgid(0, 0)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case sig := <-signals:
				_ = unix.Kill(pid, sig.(syscall.Signal))
			case <-done:
				return
			}
		}
	}()
	defer func() { close(done); <-stopped }()
	return reap(pid, stderr)
}

// reap waits for children, orphans that became ours too, until pid has ended.
func reap(pid int, stderr io.Writer) int {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			fmt.Fprintf(stderr, "sandbox: wait: %v\n", err)
			return exitFailed
		case got != pid:
		case status.Signaled():
			return exitSignal + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}

// startCode is the exit code for a command that could not be started.
func startCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitNotFound
	}
	return exitNotExecutable
}

// passedOn are the signals that a sandbox hands to its command, without those
// that were ignored from the start, as under nohup. Those of job control and of
// the terminal's size go to whole process groups and need no help.
func passedOn() []os.Signal {
	var list []os.Signal
	for _, s := range []syscall.Signal{
		unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2,
	} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}
