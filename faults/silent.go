package faults

func silentFault() Fault {
	return Fault{
		Name: "silent", Effect: "no", Curl: "28", Class: "read_timeout",
		Summary: "accepts and never reads",
		Params:  []Param{holdParam()},
		build: func(a args) (behavior, error) {
			hold := a.duration("hold")
			return behavior{connection: func(x *Exchange) {
				x.Hang(hold)
				x.end.watch = watchEnd
			}}, nil
		},
	}
}
