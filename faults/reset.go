package faults

func resetFault() Fault {
	return Fault{
		Name: "reset", Effect: "no before the head, yes from it on", acts: true, Curl: "56", Class: "reset",
		Summary: "a RST at the named place",
		Params: []Param{
			atParam("request", "where it comes: right after accept, after the request was read, in the head, after N bytes of the body, or after one whole chunk of half of it",
				"accept", "request", "head", "body:N", "chunk"),
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
			return behavior{headless: at.Word == "request", request: func(x *Exchange) {
				x.upTo(at, size)
				x.endRST()
			}}, nil
		},
	}
}
