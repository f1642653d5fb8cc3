//go:build !linux

package faults

import (
	"errors"
	"os"
	"sync"
	"time"
)

// goroutines is a parker that gives each watched connection a goroutine, which
// reads. What it has read goes through the same ready as on Linux.
type goroutines struct {
	wg sync.WaitGroup
}

// parked is what this parker keeps in a connection.
type parked struct {
	done  chan struct{} // closed when the reading goroutine has ended; nil: none
	data  []byte        // read, not yet taken by ready
	ended outcome       // how reading ended
}

func newParker(*Partner) (parker, error) { return &goroutines{}, nil }

func (g *goroutines) add(c *conn) error {
	if c.watch == watchEnd {
		return nil // without reading, an end cannot be seen here
	}
	if c.registered {
		return nil // its goroutine looks at c.watch after each read
	}
	c.registered = true
	before, done := c.parked.done, make(chan struct{})
	c.parked.done = done
	g.wg.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		_ = c.tcp.SetReadDeadline(time.Time{})
		g.read(c)
	})
	return nil
}

func (g *goroutines) read(c *conn) {
	buf := make([]byte, 4<<10)
	for {
		n, err := c.tcp.Read(buf)
		c.mu.Lock()
		going := c.registered
		if c.watch == watchIdle || !going {
			c.saved = append(c.saved, buf[:n]...)
		} else {
			c.parked.data = buf[:n]
		}
		idle := c.watch == watchIdle
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.parked.ended = reset
			if how, _ := blame(err); how == closed {
				c.parked.ended = closed
			}
		}
		if idle {
			c.registered = false
		}
		c.mu.Unlock()
		if !going {
			return
		}
		c.ready(nil)
		if idle || err != nil {
			return
		}
	}
}

func (g *goroutines) remove(c *conn) {
	if c.registered {
		c.registered = false
		_ = c.tcp.SetReadDeadline(time.Unix(1, 0))
	}
}

func (g *goroutines) stop() { g.wg.Wait() }

// settle waits until no goroutine of the parker reads c any more.
func (c *conn) settle() {
	c.mu.Lock()
	done := c.parked.done
	c.parked.done = nil
	c.mu.Unlock()
	if done != nil {
		<-done
		_ = c.tcp.SetReadDeadline(time.Time{})
	}
}

// receive hands over what the goroutine has read.
func (c *conn) receive([]byte) (data []byte, again bool, how outcome) {
	data, c.parked.data = c.parked.data, nil
	if len(data) > 0 {
		return data, false, notEnded
	}
	return nil, c.parked.ended == notEnded, c.parked.ended
}

// endSeen tells how the client ended a connection. It is never asked here: what
// is watched is read.
func (c *conn) endSeen() outcome { return c.parked.ended }

// unread is not known on this system.
func (c *conn) unread() int { return 0 }

// peerClosed is not known on this system.
func (c *conn) peerClosed() bool { return false }

// taken is not known on this system.
func (c *conn) taken() uint64 { return 0 }

// unsent is not known on this system.
func (c *conn) unsent() int { return 0 }
