package faults

import "net/http"

func okFault() Fault {
	return Fault{
		Name: "ok", Summary: "answers at once", Effect: "yes", acts: true,
		Curl: "0", Class: "ok",
		Params: []Param{bodyParam()},
		build: func(a args) (behavior, error) {
			size := bodySize(a)
			return behavior{request: func(x *Exchange) {
				x.answer(answer{status: http.StatusOK, size: size})
			}}, nil
		},
	}
}

// bodyParam is the size of an answer that the fault does not depend on.
func bodyParam() Param {
	return Param{
		Name: "body", Kind: KindInt, Default: "0", Max: MaxBytes,
		Help: "bytes of the answer's body; 0: a short one that tells the effect's number",
	}
}

func bodySize(a args) int64 {
	if n := a.int("body"); n > 0 {
		return n
	}
	return defaultSize
}
