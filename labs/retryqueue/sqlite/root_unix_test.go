//go:build unix

package sqlite_test

import (
	"os/exec"
	"syscall"
)

// giveUpRoot runs cmd as nobody.
func giveUpRoot(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
