package faults

import (
	"fmt"
	"net/http"
)

func stallFault() Fault {
	return Fault{
		Name: "stall", Effect: "yes", acts: true, Curl: "28", Class: "read_timeout",
		Summary: "head and bytes of the body, then silence",
		Params: []Param{
			{Name: "bytes", Kind: KindInt, Default: "50", Max: MaxBytes, Help: "bytes of the body that are sent"},
			cutBodyParam(), holdParam(),
		},
		build: func(a args) (behavior, error) {
			n, size, hold := a.int("bytes"), a.int("body"), a.duration("hold")
			if n >= size {
				return behavior{}, fmt.Errorf("bytes: %d is beyond the body of %d: nothing would be missing", n, size)
			}
			return behavior{request: func(x *Exchange) {
				x.partly(answer{status: http.StatusOK, size: size}, n)
				x.Hang(hold)
			}}, nil
		},
	}
}

// cutBodyParam is the announced size of a body that will not come whole.
func cutBodyParam() Param {
	return Param{Name: "body", Kind: KindInt, Default: "100", Min: 1, Max: MaxBytes, Help: "bytes of the body that are announced"}
}

// partly sends the head and the first n bytes of the body, and never the whole:
// a repeat's body is that of the first answer, which may be shorter than this one.
func (x *Exchange) partly(a answer, n int64) {
	a = x.writeHead(a)
	x.bodyPart(0, min(n, max(0, a.size-1)), a.size)
	x.flush()
}
