package pgtest

import (
	"os/exec"
	"os/user"
	"syscall"
)

// own makes cmd run as u (nil: as we are) in dir, and end with this process even
// if that is killed.
func own(cmd *exec.Cmd, u *user.User, dir string) {
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
	if u != nil {
		uid, gid := ids(u)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
