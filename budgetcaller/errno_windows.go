package budgetcaller

import (
	"errors"
	"syscall"
)

// Winsock's error numbers, from winsock2.h.
const (
	wsaConnAborted = syscall.Errno(10053)
	wsaConnReset   = syscall.Errno(10054)
	wsaTimedOut    = syscall.Errno(10060)
	wsaConnRefused = syscall.Errno(10061)
)

func isRefused(err error) bool { return errors.Is(err, wsaConnRefused) }

func isReset(err error) bool {
	return errors.Is(err, wsaConnReset) || errors.Is(err, wsaConnAborted)
}

// isTimedOut reports that the system gave up by itself. The errors of our own
// timers are not of this kind: they are not error numbers.
func isTimedOut(err error) bool { return errors.Is(err, wsaTimedOut) }

// isBrokenPipe is never true here: Winsock has no such error.
func isBrokenPipe(error) bool { return false }
