package faults

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// copyBuffer is what bodies are read through.
const copyBuffer = 16 << 10

var errBodyTooLong = errors.New("request body too long")

// drainBody reads the request's body to its end and throws it away.
func (x *Exchange) drainBody() (int, error) {
	if x.req.Body == http.NoBody || x.bodyDone {
		return 0, nil
	}
	if err := x.continue100(); err != nil {
		return 0, err
	}
	c := x.c
	buf := c.p.buffers.Get().(*[copyBuffer]byte)
	defer c.p.buffers.Put(buf)
	start := c.p.clock.now()
	c.readErr = nil
	for {
		c.headLeft = 1 << 62
		c.deadline(c.tcp.SetReadDeadline, c.p.cfg.ReadTimeout)
		n, err := x.req.Body.Read(buf[:])
		x.e.body += int64(n)
		switch {
		case err == io.EOF:
			x.bodyDone = true
			c.deadline(c.tcp.SetReadDeadline, 0)
			return 0, nil
		case err != nil && c.readErr == nil:
			return http.StatusBadRequest, errors.New("the request body is not well chunked")
		case errors.Is(err, os.ErrDeadlineExceeded) && !c.p.isStopping():
			return http.StatusRequestTimeout, errors.New("the request body took too long")
		case err != nil:
			return 0, c.readErr
		case x.e.body > c.p.cfg.MaxBody:
			return http.StatusRequestEntityTooLarge, errBodyTooLong
		case c.p.clock.now()-start > int64(maxBodyTime):
			return http.StatusRequestTimeout, errors.New("the request body took too long")
		}
	}
}

// continue100 tells a client that waits for it to send its body.
func (x *Exchange) continue100() error {
	if !x.expects {
		return nil
	}
	x.expects = false
	_, err := x.c.stream.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err
}
