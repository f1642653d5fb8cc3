package faults

import "net/http"

func slowFault() Fault {
	return Fault{
		Name: "slow", Summary: "waits delay, then answers", Effect: "yes", acts: true,
		Curl: "0", Class: "ok",
		Params: []Param{{
			Name: "delay", Kind: KindShape, Default: "3s", Max: int64(MaxDelay),
			Help: "from the request whole to the first byte of the answer",
		}, bodyParam()},
		build: func(a args) (behavior, error) {
			delay, size := a.shape("delay"), bodySize(a)
			return behavior{request: func(x *Exchange) {
				if x.Work(x.draw(delay)) {
					x.answer(answer{status: http.StatusOK, size: size})
				}
			}}, nil
		},
	}
}
