package faults

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

func slowReadFault() Fault {
	return Fault{
		Name: "slow-read", Effect: "no", Curl: "28", Class: "request_timeout", NeedsBody: 16 << 20,
		Summary: "takes the request body slowly or not at all; shows with bodies beyond what the systems buffer (some MB)",
		Params: []Param{
			{Name: "bytes", Kind: KindInt, Default: "0", Max: 1 << 20, Help: "bytes of the body that are taken at once; 0: none, ever"},
			everyParam("100ms", "the gap between two such takings"),
			holdParam(),
		},
		build: func(a args) (behavior, error) {
			n, every, hold := a.int("bytes"), a.duration("every"), a.duration("hold")
			return behavior{ownBody: true, answers: n > 0, request: func(x *Exchange) {
				if x.req.Body == http.NoBody {
					x.answer(answer{status: http.StatusOK, size: defaultSize})
					return
				}
				x.shrinkBuffer()
				if n == 0 {
					x.Hang(hold)
					x.end.watch = watchEnd
					return
				}
				x.takeSlowly(n, every, hold)
			}}, nil
		},
	}
}

// shrinkBuffer makes the kernel take as little ahead of the reader as it can.
func (x *Exchange) shrinkBuffer() {
	_ = x.c.tcp.SetReadBuffer(4 << 10) // without it the fault shows a little later
}

// takeSlowly reads n bytes of the body per every, and answers at its end.
func (x *Exchange) takeSlowly(n int64, every, hold time.Duration) {
	c := x.c
	if err := x.continue100(); err != nil {
		x.dies(err)
		return
	}
	c.readErr = nil
	buf := make([]byte, n)
	start := x.Since()
	for i := int64(1); ; i++ {
		c.headLeft = 1 << 62
		c.deadline(c.tcp.SetReadDeadline, c.p.cfg.ReadTimeout)
		got, err := io.ReadFull(x.req.Body, buf)
		x.e.body += int64(got)
		switch {
		case errors.Is(err, io.EOF) && c.readErr == nil, errors.Is(err, io.ErrUnexpectedEOF) && c.readErr == nil:
			x.bodyDone = true
			c.deadline(c.tcp.SetReadDeadline, 0)
			x.answer(answer{status: http.StatusOK, size: defaultSize})
			return
		case err != nil && c.readErr == nil:
			x.wrong, x.wrongStatus = errors.New("the request body is not well chunked"), http.StatusBadRequest
			return
		case errors.Is(c.readErr, os.ErrDeadlineExceeded) && !c.p.isStopping():
			x.wrong, x.wrongStatus = errors.New("the request body took too long"), http.StatusRequestTimeout
			return
		case err != nil:
			x.dies(c.readErr)
			return
		case x.e.body > c.p.cfg.MaxBody:
			x.wrong, x.wrongStatus = errBodyTooLong, http.StatusRequestEntityTooLarge
			return
		case time.Duration(i)*every > hold:
			x.endFIN(expired)
			return
		}
		if !x.wait(start+time.Duration(i)*every, watchEnd) {
			return
		}
	}
}
