package faults

func resetFault() Fault {
	return Fault{
		Name: "reset", Effect: "no before the head, yes from it on", acts: true, Curl: "56", Class: "reset",
		Summary: "a RST at the named place",
		Params: []Param{
			atParam("request", "where it comes: right after accept, after the request was read, in the head, or after N bytes of the body",
				"accept", "request", "head", "body:N"),
			cutBodyParam(),
		},
		build: func(a args) (behavior, error) {
			at, size := a.place("at"), a.int("body")
			if err := at.within(size); err != nil {
				return behavior{}, err
			}
			if at.Word == "accept" {
				return behavior{connection: (*Exchange).endRST}, nil
			}
			return behavior{request: func(x *Exchange) {
				x.upTo(at, size)
				x.endRST()
			}}, nil
		},
	}
}
