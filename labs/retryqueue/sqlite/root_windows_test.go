package sqlite_test

import "os/exec"

func giveUpRoot(*exec.Cmd) {}
