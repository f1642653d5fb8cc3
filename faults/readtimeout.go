package faults

import "time"

func readTimeoutFault() Fault {
	return Fault{
		Name: "read-timeout", Effect: "no", Curl: "28", Class: "read_timeout",
		Summary: "reads the request and never answers",
		Params:  []Param{holdParam()},
		build: func(a args) (behavior, error) {
			hold := a.duration("hold")
			return behavior{request: func(x *Exchange) { x.Hang(hold) }}, nil
		},
	}
}

// holdParam bounds a hang.
func holdParam() Param {
	return Param{
		Name: "hold", Kind: KindDuration, Default: "10m", Min: int64(time.Millisecond), Max: int64(MaxDelay),
		Help: "after this the partner closes a connection that still hangs",
	}
}
