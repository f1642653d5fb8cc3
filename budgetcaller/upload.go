package budgetcaller

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// upload sends a request that has a body, beside the reading of the answer: a
// partner may answer, and go, before it has taken all of it.
type upload struct {
	a       *attempt
	body    io.ReadCloser
	left    int64       // bytes of it that are still to come, below 0 if not known
	read    atomic.Bool // all of it was read
	written atomic.Bool // all of it is with the system
	inUser  atomic.Bool // the user's reader is being asked
	bodyErr atomic.Pointer[error]
	closed  atomic.Bool
	aborted atomic.Bool // the attempt is over, nothing more is to be sent
	done    chan struct{}
}

// smallRequest is what any partner's first receive window takes (RFC 6928: ten
// segments). A request within it counts as taken once the system has it.
const smallRequest = 10 << 10

// uploadGrace is how long the end of an attempt waits for a user's reader that
// does not return although it was closed.
const uploadGrace = 20 * time.Millisecond

// startUpload begins to send. The request's own Body stays untouched but for
// being read and closed.
func (a *attempt) startUpload(c *conn, whole *http.Request) {
	up := &upload{a: a, body: whole.Body, left: whole.ContentLength, done: make(chan struct{})}
	req := *whole
	req.Body = up
	a.mu.Lock()
	a.upload = up
	over := a.over
	a.mu.Unlock()
	if over {
		up.abort() // decided already: finish ends it
	}
	go up.run(c, &req)
}

func (up *upload) run(c *conn, req *http.Request) {
	defer close(up.done)
	a := up.a
	err := a.write(c, req)
	switch {
	case err == nil:
		a.handedOver(c)
		a.rearm()
		up.written.Store(true)
	case !c.writeFailed() && !up.aborted.Load():
		// The body itself failed or has the wrong length: whoever called cannot
		// finish what was begun.
		up.bodyErr.CompareAndSwap(nil, &err)
		a.giveUp()
	}
}

// Read reads the user's body. Its error is kept here, as net/http wraps it in a
// way that errors.Is does not see through.
func (up *upload) Read(p []byte) (int, error) {
	up.inUser.Store(true)
	n, err := up.body.Read(p)
	up.inUser.Store(false)
	if up.aborted.Load() {
		return 0, errAborted // and what it said is the echo of that
	}
	up.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF), err == nil && up.left == 0:
		up.read.Store(true)
	case err != nil:
		up.bodyErr.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Close closes the user's body, once.
func (up *upload) Close() error {
	if up.closed.Swap(true) {
		return nil
	}
	return up.body.Close()
}

// errAborted ends the sending of a body that nobody waits for any more.
var errAborted = errors.New("the attempt is over")

// abort ends the sending from outside.
func (up *upload) abort() {
	up.aborted.Store(true)
	_ = up.Close()
}

// end waits for the sending to end after its connection was closed. A user's
// reader that ignores being closed is left behind: no limit can hold for it.
func (up *upload) end() {
	up.abort()
	grace := time.NewTimer(uploadGrace)
	defer grace.Stop()
	for {
		select {
		case <-up.done:
			return
		case <-grace.C:
			if up.inUser.Load() {
				return
			}
			grace.Reset(uploadGrace)
		}
	}
}

// settle lets the sending come to its end after the answer did. A RST tells
// only one of reader and writer; if that was the writer, it is about to say so.
func (a *attempt) settle() {
	if a.upload == nil {
		return
	}
	grace := time.NewTimer(uploadGrace)
	defer grace.Stop()
	select {
	case <-a.upload.done:
	case <-grace.C:
	}
}

// succeeded reports whether the whole request is with the system and nothing
// sends any more. An answer may overtake the writer's last step.
func (up *upload) succeeded() bool {
	if up.read.Load() {
		up.a.settle()
	}
	select {
	case <-up.done:
		return up.written.Load()
	default:
		return false
	}
}

// failure is what the user's body failed with, nil if it did not.
func (up *upload) failure() error {
	if up == nil {
		return nil
	}
	if err := up.bodyErr.Load(); err != nil {
		return *err
	}
	return nil
}
