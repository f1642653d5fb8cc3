package faults

import (
	"fmt"
	"net/http"
	"time"
)

func informationalFault() Fault {
	return Fault{
		Name: "informational", Effect: "no", Curl: "28", Class: "budget_exhausted",
		Summary: "endless 1xx answers, and never a final one",
		Params: []Param{
			{Name: "code", Kind: KindInt, Default: "102", Min: 102, Max: 199, Help: "the status code that is sent again and again"},
			everyParam("100ms", "the gap between two of them"),
			{Name: "count", Kind: KindInt, Default: "0", Max: 1 << 20, Help: "after so many comes 200; 0: never"},
			holdParam(),
		},
		build: func(a args) (behavior, error) {
			line := fmt.Sprintf("HTTP/1.1 %d %s\r\n\r\n", a.int("code"), http.StatusText(int(a.int("code"))))
			every, count, hold := a.duration("every"), a.int("count"), a.duration("hold")
			return behavior{answers: count > 0, request: func(x *Exchange) {
				n := count
				if n == 0 {
					n = int64(hold/every) + 1
				}
				start := x.Since()
				x.drip(every, n, func(int64) { x.buf = append(x.buf, line...) })
				if x.dead || x.end.kind != endAnswer {
					return
				}
				if !x.WaitUntil(start + time.Duration(n)*every) {
					return
				}
				if count == 0 {
					x.endFIN(expired)
					return
				}
				x.answer(answer{status: http.StatusOK, size: defaultSize})
			}}, nil
		},
	}
}
