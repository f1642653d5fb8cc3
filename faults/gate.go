package faults

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// bindError says what to do about an address that cannot be had.
func bindError(addr netip.AddrPort, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen %s: the port is taken: choose another, or 0 for a free one", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
		return fmt.Errorf("listen %s: this machine has no such address: %w", addr, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen %s: not allowed: ports below 1024 need privileges", addr)
	}
	return fmt.Errorf("listen %s: %w", addr, err)
}

// openTries is how often a free port is looked for: between being found and
// being bound another process may take it.
const openTries = 20
