package faults

func connectTimeoutFault() Fault {
	return Fault{
		Name: "connect-timeout", Effect: "no", Curl: "28", Class: "connect_timeout",
		Summary: "a black hole: a full accept queue, so that no SYN is answered (Linux only)",
		build:   func(args) (behavior, error) { return behavior{port: portBlackHole}, nil },
	}
}
