//go:build !windows

package budgetcaller

import (
	"errors"
	"syscall"
)

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// isTimedOut reports that the system gave up by itself. The errors of our own
// timers are not of this kind: they are not error numbers.
func isTimedOut(err error) bool { return errors.Is(err, syscall.ETIMEDOUT) }

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
