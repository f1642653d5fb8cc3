//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

func unavailable() error {
	return fmt.Errorf("%w: network namespaces are Linux's, and this is %s", ErrUnavailable, runtime.GOOS)
}

// Available returns an error that wraps ErrUnavailable: there is a sandbox only
// on Linux.
func Available() error { return unavailable() }

// Command returns an error that wraps ErrUnavailable: there is a sandbox only
// on Linux.
func Command(context.Context, Options, string, ...string) (*exec.Cmd, error) {
	return nil, unavailable()
}

// Run returns an error that wraps ErrUnavailable: there is a sandbox only on
// Linux.
func Run(context.Context, *exec.Cmd) (int, error) { return 0, unavailable() }

// Main does nothing: there is a sandbox only on Linux.
func Main([]string) (code int, handled bool) { return 0, false }

func linearTimeouts() int { return 4 } // Linux's default, for its figures elsewhere
