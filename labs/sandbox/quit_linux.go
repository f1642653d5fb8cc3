package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Go program to which SIGQUIT comes before it has asked for signals prints all
// its stacks to descriptor 2 and ends with 2, whatever it blocks or ignores. So
// the first process of a sandbox gets its stderr under another number, which this
// variable tells it, and makes it descriptor 2 once it handles signals.
const stderrVar = "CHAOSLAB_SANDBOX_STDERR"

// hideStderr prepares cmd for that, where its stderr is a file.
func hideStderr(cmd *exec.Cmd) {
	f, ok := cmd.Stderr.(*os.File)
	if !ok {
		return
	}
	cmd.Stderr = nil
	cmd.ExtraFiles = append(slices.Clip(cmd.ExtraFiles), f)
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%d", stderrVar, 2+len(cmd.ExtraFiles)))
}

// showStderr undoes it in the first process. The command knows nothing of it.
func showStderr() {
	fd, err := strconv.Atoi(os.Getenv(stderrVar))
	_ = os.Unsetenv(stderrVar)
	if err != nil {
		return
	}
	_ = unix.Dup3(fd, 2, 0)
	_ = unix.Close(fd)
}
