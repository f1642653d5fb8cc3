//go:build unix

package budgetcaller

import "syscall"

// alive looks at an idle connection before it is used again. The partner may
// have closed it, or sent what nobody asked for; either way it is no good.
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
