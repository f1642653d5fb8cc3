package faults

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// epoll is a parker on an epoll instance of its own, which in turn the
// runtime's poller waits for: ten thousand silent connections cost no
// goroutine, no buffer and no thread.
type epoll struct {
	p    *Partner
	fd   int
	file *os.File
	raw  syscall.RawConn
	done chan struct{}
}

func newParker(p *Partner) (parker, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	// os.NewFile hands only non-blocking descriptors to the runtime's poller.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	e := &epoll{p: p, fd: fd, file: os.NewFile(uintptr(fd), "epoll"), done: make(chan struct{})}
	if e.raw, err = e.file.SyscallConn(); err != nil {
		e.file.Close()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	go e.run()
	return e, nil
}

func (e *epoll) add(c *conn) error {
	events := uint32(unix.EPOLLIN | unix.EPOLLRDHUP)
	switch c.watch {
	case watchIdle:
		events |= unix.EPOLLONESHOT
	case watchEnd:
		events = unix.EPOLLRDHUP
	}
	op := unix.EPOLL_CTL_ADD
	if c.registered {
		op = unix.EPOLL_CTL_MOD
	}
	c.registered = true
	return unix.EpollCtl(e.fd, op, c.fd, &unix.EpollEvent{
		Events: events, Fd: int32(uint32(c.id)), Pad: int32(uint32(c.id >> 32)),
	})
}

func (e *epoll) remove(c *conn) {
	if c.registered {
		c.registered = false
		_ = unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, c.fd, nil)
	}
}

func (e *epoll) run() {
	defer close(e.done)
	events := make([]unix.EpollEvent, 256)
	scratch := make([]byte, 64<<10)
	_ = e.raw.Read(func(uintptr) bool {
		for {
			n, err := unix.EpollWait(e.fd, events, 0)
			if err != nil && err != unix.EINTR || n == 0 {
				return false
			}
			for _, ev := range events[:max(n, 0)] {
				id := uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32
				if c := e.p.conn(id); c != nil {
					c.ready(scratch)
				}
			}
		}
	})
}

func (e *epoll) stop() {
	_ = e.file.Close()
	<-e.done
}

// receive reads what has arrived without waiting. again says that nothing has.
func (c *conn) receive(buf []byte) (data []byte, again bool, how outcome) {
	n, _, err := unix.Recvfrom(c.fd, buf, unix.MSG_DONTWAIT)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return nil, true, notEnded
	case err != nil:
		return nil, false, reset
	case n == 0:
		return nil, false, closed
	}
	return buf[:n], false, notEnded
}

// parked is what this parker keeps in a connection: nothing.
type parked struct{}

// settle waits until the parker has let go of c, which it has at once here.
func (c *conn) settle() {}

// endSeen tells, for a connection that is not read, how the client ended it.
func (c *conn) endSeen() outcome {
	code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil || code != 0 {
		return reset
	}
	return closed
}

// unread returns how many bytes wait to be read.
func (c *conn) unread() int {
	n, err := unix.IoctlGetInt(c.fd, unix.SIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// unsent returns how many written bytes the client's system has not
// acknowledged yet.
func (c *conn) unsent() int {
	n, err := unix.IoctlGetInt(c.fd, unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}
