package faults

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// supports says that every state can be had on this system. Whether the kernel
// at hand holds a black hole shows when one is made.
func (portState) supports() error { return nil }

// gate is one bound port and what it does with a SYN. The same socket goes from
// state to state, so the port is never given up: listen(2) opens it,
// shutdown(2) takes a listening socket back to merely bound, where the kernel
// answers every SYN with a RST, and listen(fd, 0) with one connection in the
// queue makes it silent.
type gate struct {
	fd     int
	addr   netip.AddrPort
	state  portState
	ln     net.Listener // set while open
	filler int          // the connection that fills the queue; -1: none
}

// openGate binds addr. Its state is portRefused.
func openGate(addr netip.AddrPort) (*gate, error) {
	if addr.Port() != 0 {
		return bindGate(addr)
	}
	// A port that the system picked is given back when its socket stops
	// listening; one that was asked for by number stays. So it is found first
	// and then asked for.
	var err error
	for range openTries {
		var free netip.AddrPort
		if free, err = freePort(addr); err != nil {
			return nil, bindError(addr, err)
		}
		var g *gate
		if g, err = bindGate(free); err == nil {
			return g, nil
		}
	}
	return nil, err
}

// freePort returns addr with a port that is free at the moment. Without
// SO_REUSEADDR the system gives the same one to nobody else meanwhile.
func freePort(addr netip.AddrPort) (netip.AddrPort, error) {
	domain, sa := sockaddr(addr)
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return addr, err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, sa); err != nil {
		return addr, err
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return addr, err
	}
	return addrOf(bound), nil
}

func bindGate(addr netip.AddrPort) (*gate, error) {
	domain, sa := sockaddr(addr)
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, bindError(addr, err)
	}
	g := &gate{fd: fd, filler: -1, state: portRefused}
	if err := g.bind(sa, addr); err != nil {
		unix.Close(fd)
		return nil, bindError(addr, err)
	}
	return g, nil
}

func (g *gate) bind(sa unix.Sockaddr, addr netip.AddrPort) error {
	if err := reuse(g.fd, 1); err != nil {
		return err
	}
	if addr.Addr().Is6() {
		if err := unix.SetsockoptInt(g.fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return err
		}
	}
	if err := unix.Bind(g.fd, sa); err != nil {
		return err
	}
	g.addr = addr
	// A bound port can still be somebody else's: only listening shows it.
	if err := g.listen(0); err != nil {
		return err
	}
	return g.unlisten()
}

// listen makes the bound socket listen. SO_REUSEADDR is on meanwhile: accepted
// connections inherit it, and without it they would keep the port from
// listening again after it was refused.
func (g *gate) listen(backlog int) error {
	if err := reuse(g.fd, 1); err != nil {
		return err
	}
	return unix.Listen(g.fd, backlog)
}

// unlisten takes the socket back to merely bound. SO_REUSEADDR is off then, or
// another process could bind the port too and listen on it.
func (g *gate) unlisten() error {
	if err := unix.Shutdown(g.fd, unix.SHUT_RD); err != nil {
		return err
	}
	return reuse(g.fd, 0)
}

func reuse(fd, on int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, on)
}

func sockaddr(addr netip.AddrPort) (domain int, sa unix.Sockaddr) {
	if addr.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(addr.Port()), Addr: addr.Addr().As16()}
}

func addrOf(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

// set takes the port to another state. A listener that g.ln held before is
// closed.
func (g *gate) set(to portState) error {
	if g.state == to {
		return nil
	}
	if err := g.refuse(); err != nil {
		return err
	}
	switch to {
	case portOpen:
		return g.open()
	case portBlackHole:
		return g.blacken()
	}
	return nil
}

func (g *gate) refuse() error {
	if g.ln != nil {
		_ = g.ln.Close()
		g.ln = nil
	}
	if g.filler >= 0 {
		unix.Close(g.filler)
		g.filler = -1
	}
	if g.state != portRefused {
		if err := g.unlisten(); err != nil {
			return fmt.Errorf("listen %s: stop listening: %w", g.addr, err)
		}
	}
	g.state = portRefused
	return nil
}

func (g *gate) open() error {
	if err := g.listen(unix.SOMAXCONN); err != nil {
		return bindError(g.addr, err)
	}
	g.state = portOpen
	fd, err := unix.FcntlInt(uintptr(g.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("listen %s: %w", g.addr, err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	if g.ln, err = net.FileListener(f); err != nil {
		return fmt.Errorf("listen %s: %w", g.addr, err)
	}
	return nil
}

func (g *gate) close() {
	if g.ln != nil {
		_ = g.ln.Close()
	}
	if g.filler >= 0 {
		unix.Close(g.filler)
	}
	unix.Close(g.fd)
	g.ln, g.filler, g.fd = nil, -1, -1
}
