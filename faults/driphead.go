package faults

import "net/http"

func dripHeadFault() Fault {
	return Fault{
		Name: "drip-head", Effect: "yes", acts: true, Curl: "0", Class: "ok",
		Summary: "one byte of the head per every, then the body at once",
		Params: []Param{
			everyParam("20ms", "the gap between two bytes of the head, some 150 in all; the first comes at once"),
			bodyParam(),
		},
		build: func(a args) (behavior, error) {
			every, size := a.duration("every"), bodySize(a)
			return behavior{request: func(x *Exchange) {
				sent := x.writeHead(answer{status: http.StatusOK, size: size})
				head := append([]byte(nil), x.buf...)
				x.buf = x.buf[:0]
				x.drip(every, int64(len(head)), func(i int64) { x.buf = append(x.buf, head[i]) })
				if !x.dead && x.end.kind == endAnswer {
					x.bodyPart(0, sent.size, sent.size)
					x.flush()
				}
			}}, nil
		},
	}
}
