package faults

import (
	"fmt"
	"net/http"
	"time"
)

func dripFault() Fault {
	return Fault{
		Name: "drip", Effect: "yes", acts: true, Curl: "0", Class: "ok",
		Summary: "head at once, then one byte per every",
		Params: []Param{
			{Name: "bytes", Kind: KindInt, Default: "100", Min: 1, Max: 1 << 20, Help: "bytes of the body"},
			everyParam("20ms", "the gap between two bytes, not the total: bytes × every is the whole time; the first byte comes with the head"),
		},
		build: func(a args) (behavior, error) {
			n, every := a.int("bytes"), a.duration("every")
			if time.Duration(n) > MaxDelay/every {
				return behavior{}, fmt.Errorf("bytes × every is %d × %v: at most %s in all", n, every, short(MaxDelay))
			}
			return behavior{request: func(x *Exchange) {
				head := x.writeHead(answer{status: http.StatusOK, size: n})
				x.flush()
				if x.req.Method != http.MethodHead {
					x.drip(every, head.size, func(i int64) { x.bodyPart(i, i+1, head.size) })
				}
			}}, nil
		},
	}
}

// everyParam is the gap between two things that are sent.
func everyParam(zero, help string) Param {
	return Param{
		Name: "every", Kind: KindDuration, Default: zero, Min: int64(time.Millisecond), Max: int64(MaxDelay), Help: help,
	}
}

// drip does n steps, the first at once and the others each at its own point in
// time, so that lateness never adds up. It stops when the client has left.
func (x *Exchange) drip(every time.Duration, n int64, step func(i int64)) {
	start := x.Since()
	for i := range n {
		if i > 0 && !x.WaitUntil(start+time.Duration(i)*every) {
			return
		}
		if step(i); x.dead {
			return
		}
		x.flush()
	}
}
