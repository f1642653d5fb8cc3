//go:build !linux

package referee

import "net/netip"

// connecting is known on Linux only.
func connecting(map[uint16]bool) (map[netip.AddrPort]synSocket, bool) { return nil, false }

func connectingOf(int, map[uint16]bool, map[netip.AddrPort]synSocket) bool { return false }

func foreign(uint32, []int, []string) bool { return false }
