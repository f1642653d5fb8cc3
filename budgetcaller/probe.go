package budgetcaller

import (
	"crypto/tls"
	"errors"
)

// errProbe is what a read below TLS gives while the connection is only looked
// at. To crypto/tls it is a timeout, after which a connection is still good.
var errProbe error = probeError{}

type probeError struct{}

func (probeError) Error() string   { return "the connection is only looked at" }
func (probeError) Timeout() bool   { return true }
func (probeError) Temporary() bool { return true }

func (c *conn) isTLS() bool {
	_, ok := c.app.(*tls.Conn)
	return ok
}

// fit looks at an idle connection before it is used again: the partner may have
// closed it, or have sent what nobody asked for. TLS may hold some of that.
func (c *conn) fit() bool {
	if c.isTLS() {
		c.probing = true
		var b [1]byte
		n, err := c.app.Read(b[:])
		c.probing = false
		if n > 0 || !errors.Is(err, errProbe) {
			return false
		}
	}
	return c.alive()
}
