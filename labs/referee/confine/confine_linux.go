package confine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The versions of Landlock's interface from which on there is more.
const (
	abiRefer    = 2 // Linux 5.19: renames from one writable folder to another
	abiTruncate = 3 // Linux 6.2
	abiScope    = 6 // Linux 6.12: signals
)

// toFile are the rights that a rule on what is no folder can give.
const toFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE

// version returns the version of Landlock's interface, or why there is none.
func version() (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS:
		return 0, fmt.Errorf("%w: this kernel has no Landlock (Linux 5.13)", ErrUnavailable)
	case errno == unix.EOPNOTSUPP:
		return 0, fmt.Errorf("%w: Landlock is not among the kernel's security modules (lsm=)", ErrUnavailable)
	case errno != 0:
		return 0, fmt.Errorf("%w: Landlock: %w", ErrUnavailable, errno)
	}
	return int(n), nil
}

// Available returns nil, or why commands cannot be confined here, wrapping
// ErrUnavailable.
func Available() error {
	_, err := version()
	return err
}

// Child is a command that Wrap has changed.
type Child struct{ ours, its *os.File }

// Wrap changes a command that has not been started: it can write in the folders
// and files in writable, those beneath them included, and nowhere else. Those that
// are not there are passed over. Afterwards Path, Args and ExtraFiles are not to
// be changed. Started must be called after Start, whatever came of that.
func Wrap(cmd *exec.Cmd, writable []string) (*Child, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	ours, its, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := Args(writable, cmd.Path, cmd.Args)
	// The running file itself, even if another has taken its name by now.
	cmd.Path, cmd.Args, cmd.ExtraFiles = "/proc/self/exe", args, []*os.File{its}
	return &Child{ours, its}, nil
}

// Args returns the arguments with which this very program becomes the command argv
// at path, confined: for one who starts it in a way of his own. Why it does not
// start is then told on stderr.
func Args(writable []string, path string, argv []string) []string {
	args := append([]string{helperName, strconv.Itoa(len(writable))}, writable...)
	return append(append(args, path), argv...)
}

// Started waits until the command has taken the place of the helper, which takes
// milliseconds, and returns why it has not, or err if Start failed.
func (c *Child) Started(err error) error {
	_ = c.its.Close()
	defer c.ours.Close()
	if err != nil {
		return err
	}
	why, _ := io.ReadAll(io.LimitReader(c.ours, 4<<10))
	if len(why) > 0 {
		return errors.New(string(why))
	}
	return nil
}

// pipeFD is where the helper finds its end of the pipe.
const pipeFD = 3

// Main confines this process and becomes the command, if args, the process's
// os.Args, say that Wrap started it or, behind the program's name, are those of
// Args: then it returns only if that goes wrong,
// with handled true and the exit code. Otherwise it does nothing.
func Main(args []string) (code int, handled bool) {
	if len(args) > 1 && args[1] == helperName {
		fmt.Fprintf(os.Stderr, "%s: %v\n", helperName, become(args[2:]))
		return exitFailed, true
	}
	if len(args) == 0 || args[0] != helperName {
		return 0, false
	}
	unix.CloseOnExec(pipeFD)
	err := become(args[1:])
	_, _ = fmt.Fprint(os.NewFile(pipeFD, "pipe"), err)
	return exitFailed, true
}

// become confines this process and executes the command. It returns only errors.
func become(args []string) error {
	notOurs := errors.New("this is only for a referee to start")
	if len(args) == 0 {
		return notOurs
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 0 || len(args) < n+3 {
		return notOurs
	}
	writable, path, argv := args[1:n+1], args[n+1], args[n+2:]
	// Landlock confines a thread, and exec keeps what the thread that calls it has.
	runtime.LockOSThread()
	if err := restrict(writable); err != nil {
		return err
	}
	if err := syscall.Exec(path, argv, os.Environ()); err != nil {
		return &os.PathError{Op: "exec", Path: path, Err: err}
	}
	return nil
}

// restrict confines the calling thread.
func restrict(writable []string) error {
	abi, err := version()
	if err != nil {
		return err
	}
	handled := uint64(unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM)
	attr := unix.LandlockRulesetAttr{}
	if abi >= abiRefer {
		handled |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= abiTruncate {
		handled |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= abiScope {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL
	}
	attr.Handled_access_fs = handled
	// Up to Scoped: an older kernel takes what it does not know if it is zero.
	size := unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: rules: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, path := range writable {
		if err := allow(int(fd), path, handled); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// allow adds a rule that gives all handled rights beneath path.
func allow(rules int, path string, handled uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil // nothing there that the command could write
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		handled &= toFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "landlock", Path: path, Err: errno}
	}
	return nil
}
