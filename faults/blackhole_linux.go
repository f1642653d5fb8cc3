package faults

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The black hole's times.
const (
	fillTime  = time.Second            // for the one connection that fills the queue
	probeTime = 100 * time.Millisecond // in which an answer to the probe would have come
)

// blacken makes the port answer no SYN, and proves it.
func (g *gate) blacken() error {
	if err := g.listen(0); err != nil {
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

// trouble says that a black hole is none at the moment, or nothing.
func (g *gate) trouble() string {
	if g.state != portBlackHole {
		return ""
	}
	switch full, err := g.black(); {
	case err != nil:
		return err.Error()
	case !full:
		return fmt.Sprintf("the black hole %s is open: it answers connects", g.addr)
	}
	return ""
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
