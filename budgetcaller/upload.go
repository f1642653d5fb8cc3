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
	written atomic.Bool // all of it is with the system
	inUser  atomic.Bool // the user's reader is being asked
	bodyErr atomic.Pointer[error]
	closed  atomic.Bool
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
	up := &upload{a: a, body: whole.Body, done: make(chan struct{})}
	req := *whole
	req.Body = up
	if !a.hold(func() { a.upload = up }) {
		a.upload = up // decided already: finish ends it
		up.abort()
	}
	go up.run(c, &req)
}

func (up *upload) run(c *conn, req *http.Request) {
	defer close(up.done)
	a := up.a
	err := a.write(c, req)
	switch {
	case err == nil:
		up.written.Store(true)
		if c.wrote.Load() <= smallRequest || c.taken().queued == 0 {
			a.allSent(a.span.now())
			a.rearm()
		}
	case !c.writeFailed():
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
	defer up.inUser.Store(false)
	n, err := up.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
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

func (up *upload) abort() { _ = up.Close() }

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

// succeeded reports whether the whole request is with the system and nothing
// sends any more.
func (up *upload) succeeded() bool {
	select {
	case <-up.done:
		return up.written.Load()
	default:
	}
	// It may be at its last step.
	if !up.written.Load() {
		return false
	}
	<-up.done
	return true
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
