//go:build !linux

package faults

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
)

// supports says which states cannot be had on this system.
func (s portState) supports() error {
	switch s {
	case portRefused:
		return errors.New("refused cannot be had on " + runtime.GOOS + ": it needs Linux")
	case portBlackHole:
		return errors.New("connect-timeout cannot be had on " + runtime.GOOS + ": it needs Linux")
	}
	return nil
}

// gate is one bound port. Only the open state can be had on this system: what
// keeps a port refused or silent is behaviour of the Linux kernel.
type gate struct {
	addr  netip.AddrPort
	state portState
	ln    net.Listener
	first net.Listener // bound by openGate, not yet handed out
}

func openGate(addr netip.AddrPort) (*gate, error) {
	ln, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return nil, bindError(addr, err)
	}
	tcp, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.New("listen: not a TCP address")
	}
	return &gate{addr: tcp.AddrPort(), state: portRefused, first: ln}, nil
}

func (g *gate) set(to portState) error {
	if err := to.supports(); err != nil {
		return err
	}
	g.state, g.ln = portOpen, g.first
	return nil
}

func (g *gate) trouble() string { return "" }

func (g *gate) check() string { return "" }

func (g *gate) close() { _ = g.first.Close() }
