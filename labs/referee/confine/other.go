//go:build !linux

package confine

import (
	"fmt"
	"os/exec"
	"runtime"
)

// Available returns an error that wraps ErrUnavailable: Landlock is Linux's.
func Available() error {
	return fmt.Errorf("%w: Landlock is Linux's, and this is %s", ErrUnavailable, runtime.GOOS)
}

// Child is a command that Wrap has changed: there is none here.
type Child struct{}

// Wrap returns an error that wraps ErrUnavailable and changes nothing.
func Wrap(*exec.Cmd, []string) (*Child, error) { return nil, Available() }

// Args returns argv: nothing is confined here.
func Args(_ []string, _ string, argv []string) []string { return argv }

// Started returns err.
func (*Child) Started(err error) error { return err }

// Main does nothing.
func Main([]string) (code int, handled bool) { return 0, false }
