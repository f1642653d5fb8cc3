package faults

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

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
	// listening; one that was asked for by number stays. So one socket finds
	// the port and holds it until the other has bound it.
	holder, err := bindGate(addr)
	if err != nil {
		return nil, err
	}
	defer holder.close()
	if err := reuse(holder.fd, 1); err != nil {
		return nil, bindError(addr, err)
	}
	return bindGate(holder.addr)
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
	// With SO_REUSEADDR the port can be had although old connections of it are
	// still in TIME_WAIT. Left on, another process could bind the port too as
	// long as nobody listens, so it is switched off at once.
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
	bound, err := unix.Getsockname(g.fd)
	if err != nil {
		return err
	}
	g.addr = addrOf(bound)
	if addr.Port() == 0 {
		return nil
	}
	// A bound port can still be somebody else's: only listening shows it.
	if err := unix.Listen(g.fd, 0); err != nil {
		return err
	}
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
		if err := unix.Shutdown(g.fd, unix.SHUT_RD); err != nil {
			return fmt.Errorf("listen %s: stop listening: %w", g.addr, err)
		}
	}
	g.state = portRefused
	return nil
}

func (g *gate) open() error {
	if err := unix.Listen(g.fd, unix.SOMAXCONN); err != nil {
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

// The black hole's times.
const (
	fillTime  = time.Second            // for the one connection that fills the queue
	probeTime = 100 * time.Millisecond // in which an answer to the probe would have come
)

// blacken makes the port answer no SYN, and proves it.
func (g *gate) blacken() error {
	if err := unix.Listen(g.fd, 0); err != nil {
		return bindError(g.addr, err)
	}
	g.state = portBlackHole
	if err := g.fill(); err != nil {
		return err
	}
	fd, err := g.dial()
	if err != nil {
		return fmt.Errorf("black hole %s: probe: %w", g.addr, err)
	}
	defer unix.Close(fd)
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for until := time.Now().Add(probeTime); ; {
		n, err := unix.Poll(poll, int(time.Until(until).Milliseconds())+1)
		if err == unix.EINTR && time.Now().Before(until) {
			continue
		}
		if n != 0 {
			return fmt.Errorf("black hole %s: this system answers connects although the accept queue is full: connect-timeout cannot be had here", g.addr)
		}
		return nil
	}
}

// fill puts one connection into the queue, which has room for exactly one.
func (g *gate) fill() error {
	if g.filler >= 0 {
		unix.Close(g.filler)
	}
	var err error
	if g.filler, err = g.dial(); err != nil {
		return fmt.Errorf("black hole %s: fill the queue: %w", g.addr, err)
	}
	poll := []unix.PollFd{{Fd: int32(g.filler), Events: unix.POLLOUT}}
	for until := time.Now().Add(fillTime); time.Now().Before(until); {
		if full, err := g.black(); full || err != nil {
			return err
		}
		_, _ = unix.Poll(poll, 1)
	}
	return fmt.Errorf("black hole %s: the accept queue does not fill: connect-timeout cannot be had on this system", g.addr)
}

// dial starts a connect to the port and does not wait for it.
func (g *gate) dial() (int, error) {
	domain, sa := sockaddr(g.addr)
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Connect(fd, sa); err != nil && err != unix.EINPROGRESS {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// black says whether the queue is full. For a listening socket TCP_INFO tells
// in unacked how many connections wait to be accepted and in sacked how many
// may (tcp_get_info in net/ipv4/tcp.c); the kernel drops SYNs while there are
// more than that.
func (g *gate) black() (bool, error) {
	info, err := unix.GetsockoptTCPInfo(g.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return false, fmt.Errorf("black hole %s: %w", g.addr, err)
	}
	return info.Unacked > info.Sacked, nil
}

// check looks whether a black hole still is one and mends it. It says what it
// found, or nothing.
func (g *gate) check() string {
	if g.state != portBlackHole {
		return ""
	}
	full, err := g.black()
	if err == nil && full {
		return ""
	}
	if err == nil {
		err = g.fill()
	}
	if err != nil {
		return fmt.Sprintf("the black hole %s is open and cannot be closed: %v", g.addr, err)
	}
	return fmt.Sprintf("the black hole %s had opened and was closed again", g.addr)
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
