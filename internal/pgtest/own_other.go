//go:build !linux

package pgtest

import (
	"os/exec"
	"os/user"
)

// own makes cmd run in dir. Elsewhere than on Linux, tests do not run as root.
func own(cmd *exec.Cmd, _ *user.User, dir string) { cmd.Dir = dir }
