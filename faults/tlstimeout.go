package faults

func tlsTimeoutFault() Fault {
	return Fault{
		Name: "tls-timeout", Effect: "no", Curl: "28", Class: "tls_timeout",
		Summary: "accepts, takes the ClientHello and never answers it",
		Params:  []Param{holdParam()},
		build: func(a args) (behavior, error) {
			hold := a.duration("hold")
			return behavior{tls: true, connection: func(x *Exchange) { x.Hang(hold) }}, nil
		},
	}
}
