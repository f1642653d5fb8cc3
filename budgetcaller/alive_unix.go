//go:build unix

package budgetcaller

import "syscall"

// alive reports that the system has neither the end of the connection nor bytes
// for us to read.
func (c *conn) alive() bool {
	if c.raw == nil {
		return true
	}
	alive := false
	err := c.raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		alive = err == syscall.EAGAIN
		return true // never wait
	})
	return err == nil && alive
}

// dead reports that the connection is over in both directions: it writes nothing,
// which asks the system and sends nothing.
func (c *conn) dead() bool {
	if c.raw == nil {
		return false
	}
	dead := false
	err := c.raw.Control(func(fd uintptr) {
		_, err := syscall.Write(int(fd), nil)
		dead = err != nil
	})
	return err == nil && dead
}
