//go:build unix

package referee

import (
	"os/exec"
	"syscall"
)

// signalGroup ends the process group of pid: asks, or forces.
func signalGroup(pid int, force bool) error {
	if force {
		return syscall.Kill(-pid, syscall.SIGKILL)
	}
	return syscall.Kill(-pid, syscall.SIGTERM)
}

// ownGroup gives the command a process group of its own, so that a SIGINT of the
// terminal goes to the referee alone, which then ends the group.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
}
