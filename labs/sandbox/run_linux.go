package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs cmd, which Command has made with the same ctx, as a command line
// tool runs another: signals that this process gets are passed on to it, and
// what it ends with is returned as an exit code, 128+N for a signal N. An error
// means that it did not run, or that ctx ended it.
//
// INT and QUIT from the terminal reach the command directly, as it stays in this
// process's group, and are not passed on a second time. Nothing tells such a
// signal from one that kill(1) sent to this process alone, so in the foreground
// of a terminal both are taken for the terminal's; TERM is always passed on.
//
// A ctx that a signal ended (signal.NotifyContext) does not kill the command:
// that got the signal too, and decides itself how to end.
func Run(ctx context.Context, cmd *exec.Cmd) (int, error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn()...)
	defer signal.Stop(signals)

	cmd.Cancel = func() error {
		// The cause is Canceled itself only if nobody named another one, and
		// NotifyContext names the signal.
		if cause := context.Cause(ctx); cause != context.Canceled && errors.Is(cause, context.Canceled) {
			return os.ErrProcessDone // for Wait: as if it had not been canceled
		}
		return cmd.Process.Kill()
	}
	hideStderr(cmd)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case sig := <-signals:
				if !fromTerminal(sig) {
					awaitReady(cmd.Process.Pid)
					_ = cmd.Process.Signal(sig)
				}
			case <-done:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(done)
	<-stopped

	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit) || cmd.ProcessState == nil:
		return 0, err
	}
	if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		return exitSignal + int(ws.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// awaitReady waits until the first process of the sandbox handles signals, as
// the kernel would drop them before. It takes some milliseconds; where /proc does
// not show it, one second.
func awaitReady(pid int) {
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	comm := fmt.Sprintf("/proc/%d/comm", pid)
	for readSetting(comm) != initName {
		select {
		case <-tick.C:
		case <-limit.C:
			return
		}
	}
}

// fromTerminal reports whether sig is one that a key sends, and this process in
// the group that the terminal sends it to.
func fromTerminal(sig os.Signal) bool {
	if sig != unix.SIGINT && sig != unix.SIGQUIT {
		return false
	}
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false // no controlling terminal
	}
	defer unix.Close(fd)
	foreground, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
