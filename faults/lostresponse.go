package faults

import "net/http"

func lostResponseFault() Fault {
	return Fault{
		Name: "lost-response", Effect: "yes, that is the point", acts: true, Curl: "52", Class: "closed",
		Summary: "does the work, then closes, resets or hangs instead of answering",
		Params: []Param{
			{Name: "then", Kind: KindWord, Default: "close", Words: []string{"close", "reset", "hang"}, Help: "what comes instead of the answer"},
			{Name: "delay", Kind: KindShape, Default: "0s", Max: int64(MaxDelay), Help: "how long the work takes"},
			holdParam(),
		},
		build: func(a args) (behavior, error) {
			then, delay, hold := a.word("then"), a.shape("delay"), a.duration("hold")
			return behavior{request: func(x *Exchange) {
				if !x.Work(x.draw(delay)) {
					return
				}
				x.act(http.StatusOK, defaultSize)
				switch then {
				case "close":
					x.endFIN(closed)
				case "reset":
					x.endRST()
				default:
					x.Hang(hold)
				}
			}}, nil
		},
	}
}
