package faults

func closeFault() Fault {
	return Fault{
		Name: "close", Effect: "no", Curl: "52", Class: "closed",
		Summary: "reads the request and closes without a byte of answer",
		build: func(args) (behavior, error) {
			return behavior{request: func(x *Exchange) { x.endFIN(closed) }}, nil
		},
	}
}
