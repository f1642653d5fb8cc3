package faults

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"time"
)

// acceptPause is the wait after an accept that found no descriptor free.
const acceptPause = 20 * time.Millisecond

// accept takes connections until ln is closed.
func (l *listener) accept(ln net.Listener) {
	told := false
	for {
		nc, err := ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || l.p.isStopping() {
				return
			}
			var again interface{ Temporary() bool }
			if !errors.As(err, &again) || !again.Temporary() {
				l.acceptsNoMore(ln, err)
				return
			}
			if !told {
				told = true
				l.p.cfg.Event(Event{l.name, "connections have to wait: " + err.Error() + " (is ulimit -n too low?)"})
			}
			select {
			case <-time.After(acceptPause):
			case <-l.p.stopping:
				return
			}
			continue
		}
		l.welcome(nc.(*net.TCPConn))
	}
}

// welcome takes a new connection over.
func (l *listener) welcome(tcp *net.TCPConn) {
	p := l.p
	c := &conn{p: p, l: l, tcp: tcp, accepted: p.clock.now()}
	c.remote, c.local = addrPort(tcp.RemoteAddr()), addrPort(tcp.LocalAddr())
	c.fd = descriptor(tcp)
	c.stream = rawSide{c}
	if l.tls != nil {
		c.tls = tls.Server(tlsSide{tcp, rawSide{c}}, l.tls)
		c.stream = c.tls
	}
	l.stats.accepted.Add(1)
	l.stats.open.Add(1)
	room := p.remember(c)
	pl := l.plan.Load()
	e := entry{listener: l, conn: c.id, remote: c.remote, accepted: c.accepted, begun: c.accepted}
	e.number = pl.connections.Add(1)
	spec := pl.connection(e.number, time.Duration(c.accepted-pl.begun))
	if spec != nil {
		e.mode = spec.fault.index
	} else {
		e.mode = pl.first()
	}
	c.slot = p.ledger.begin(&e)
	switch {
	case !room:
		l.stats.ended(e.mode, overfull, false)
		c.close(overfull, false)
	case spec != nil:
		c.strike(spec)
	default:
		if !c.park(watchIdle, c.accepted+int64(p.cfg.IdleTimeout)) || p.isStopping() {
			c.close(stopped, false)
		}
	}
}

// strike lets a fault at connection level act.
func (c *conn) strike(spec *Spec) {
	x := c.p.exchanges.Get().(*Exchange)
	defer x.release()
	x.c, x.spec, x.slot, x.plan = c, spec, c.slot, c.l.plan.Load()
	spec.behavior.connection(x)
	if x.end.kind == endHold {
		c.l.stats.hung.Add(1)
		if held := c.holdEntry(c.slot, x.end); held != nil {
			c.endHeld(held, stopped, false)
		}
		return
	}
	if x.end.kind == endRST {
		_ = c.tcp.SetLinger(0)
	}
	c.l.stats.ended(spec.fault.index, x.end.how, false)
	c.close(x.end.how, false)
}

func addrPort(addr net.Addr) netip.AddrPort {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// descriptor returns the number that tcp has for the kernel. It stays valid as
// long as tcp is not closed, which only happens under the connection's lock.
func descriptor(tcp *net.TCPConn) int {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return -1
	}
	fd := -1
	_ = raw.Control(func(n uintptr) { fd = int(n) })
	return fd
}
