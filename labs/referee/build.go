package referee

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// buildLimit bounds the building of a Go program.
const buildLimit = 3 * time.Minute

// goRun splits a command "go run FLAGS PACKAGE ARGS" into the flags and packages
// that go build takes as well, and the program's own arguments.
func goRun(argv []string) (build, args []string, ok bool) {
	if len(argv) < 3 || argv[0] != "go" || argv[1] != "run" {
		return nil, nil, false
	}
	alone := []string{"a", "n", "race", "msan", "asan", "cover", "v", "work", "x", "trimpath", "modcacherw"}
	i := 2
	for ; i < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		name := strings.TrimLeft(argv[i], "-")
		if name == "exec" || strings.HasPrefix(name, "exec=") {
			return nil, nil, false // what it names is to start the program
		}
		if !strings.Contains(name, "=") && !slices.Contains(alone, name) {
			i++ // its value is a word of its own
		}
	}
	if i >= len(argv) {
		return nil, nil, false
	}
	end := i + 1
	for strings.HasSuffix(argv[i], ".go") && end < len(argv) && strings.HasSuffix(argv[end], ".go") {
		end++
	}
	return argv[2:end], argv[end:], true
}

func (p *Program) build(ctx context.Context, what, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	binary := filepath.Join(p.scratch, "program")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", binary}, what...)...)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clone(p.env), "GOFLAGS=-buildvcs=false")
	ownGroup(cmd)
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, true) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("go build: %w", context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("go build: %s", oneLine(string(out)+" "+err.Error()))
	}
	p.argv = append([]string{binary}, args...)
	return nil
}
