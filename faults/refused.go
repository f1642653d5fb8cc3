package faults

func refusedFault() Fault {
	return Fault{
		Name: "refused", Effect: "no", Curl: "7", Class: "refused",
		Summary: "holds the port, bound but not listening: every SYN is answered with a reset",
		build:   func(args) (behavior, error) { return behavior{port: portRefused}, nil },
	}
}
