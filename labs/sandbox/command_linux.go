package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probeLimit bounds one try; it takes some 50 ms.
const probeLimit = 10 * time.Second

// Available tries a sandbox out, which takes some 50 ms, and returns nil, or
// the reason why there is none on this machine, wrapping ErrUnavailable.
func Available() error {
	_, err := choose(context.Background(), Options{}, ways(os.Geteuid()), probe)
	return err
}

// Command returns a command that runs name with args in a sandbox of its own,
// after it has tried one out as Available does. The command is like one of
// exec.CommandContext, with these differences: its process is the first one of
// the sandbox, which passes HUP, INT, QUIT, TERM, USR1 and USR2 on to name and
// ends with its exit code, or 128+N if signal N ended it; killing it ends
// everything inside. Its Path, Args and SysProcAttr are not to be changed; Env,
// Dir, the streams, ExtraFiles, Cancel and WaitDelay are free.
//
// The process is killed when the thread that called Start ends. The runtime
// ends a thread only if a goroutine exits that is still locked to it.
//
// Errors: a name that cannot be found (exec.ErrNotFound) or run, ErrUnavailable,
// and values of opts that are out of range.
func Command(ctx context.Context, opts Options, name string, args ...string) (*exec.Cmd, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	outside, err := os.Readlink(netNamespace)
	if err != nil {
		return nil, fmt.Errorf("%w: own network namespace: %w", ErrUnavailable, err)
	}
	w, err := choose(ctx, opts, ways(os.Geteuid()), probe)
	if err != nil {
		return nil, err
	}
	j := job{outside: outside, synRetries: opts.SynRetries, path: path, argv: append([]string{name}, args...)}
	return w.command(ctx, j), nil
}

// way is one way to get namespaces.
type way struct {
	name   string
	userNS bool
}

// ways lists them, best first. A user namespace maps one user and no other, so
// root, whose rights over the files of others would end with it, does without
// where it can.
func ways(euid int) []way {
	with, without := way{"in a user namespace", true}, way{"without a user namespace", false}
	if euid == 0 {
		return []way{without, with}
	}
	return []way{with, without}
}

// choose returns the first way that try takes without an error.
func choose(ctx context.Context, opts Options, list []way, try func(context.Context, Options, way) error) (way, error) {
	var reasons []string
	for _, w := range list {
		err := try(ctx, opts, w)
		if err == nil {
			return w, nil
		}
		if ctx.Err() != nil {
			return way{}, fmt.Errorf("sandbox: %w", context.Cause(ctx))
		}
		reasons = append(reasons, w.name+": "+err.Error())
	}
	return way{}, fmt.Errorf("%w: %s", ErrUnavailable, strings.Join(reasons, "; "))
}

// probe sets up a whole sandbox without a command in it.
func probe(ctx context.Context, opts Options, w way) error {
	noMain := errors.New("this program does not call sandbox.Main first, as it must")
	if isInit(os.Args) {
		return noMain // and would go on starting itself for ever
	}
	outside, err := os.Readlink(netNamespace)
	if err != nil {
		return fmt.Errorf("own network namespace: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	cmd := w.command(ctx, job{probe: true, outside: outside, synRetries: opts.SynRetries, path: "-"})
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	line, ours := strings.CutPrefix(strings.TrimSpace(said.String()), "sandbox: ")
	var exit *exec.ExitError
	switch {
	case err == nil && strings.TrimSpace(out.String()) == probed:
		return nil
	case ours:
		return errors.New(line)
	case err == nil, errors.As(err, &exit) && ctx.Err() == nil:
		return noMain
	default:
		var start *os.PathError // would name /proc/self/exe, which says nothing
		if errors.As(err, &start) {
			err = start.Err
		}
		return explain(err, w.userNS)
	}
}

// command is the first process of a sandbox made this way.
func (w way) command(ctx context.Context, j job) *exec.Cmd {
	// The running file itself, even if another has taken its name by now.
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = j.args()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if !w.userNS {
		return cmd
	}
	// The user stays who he is, in name and rights, and only the first process
	// may set up the network and mount /proc.
	a := cmd.SysProcAttr
	a.Cloneflags |= unix.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	return cmd
}
