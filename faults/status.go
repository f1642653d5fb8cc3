package faults

import (
	"net/http"
	"strings"
	"time"
)

func statusFault() Fault {
	return Fault{
		Name: "status", Effect: "no", Curl: "0", Class: "status",
		Summary: "answers status, with Retry-After if asked",
		Params: []Param{
			{Name: "status", Kind: KindInt, Default: "503", Min: 200, Max: 599, Help: "the code"},
			{Name: "retry-after", Kind: KindText, Default: "none", Help: "the header's value as it stands, right or wrong; date+1s: the date in one second; none: no such header"},
			{Name: "location", Kind: KindText, Default: "none", Help: "the header's value, such as / for a redirect to itself; none: no such header"},
			{Name: "delay", Kind: KindShape, Default: "0s", Max: int64(MaxDelay), Help: "from the request whole to the first byte of the answer"},
			bodyParam(),
		},
		build: func(a args) (behavior, error) {
			status, delay, size, retry := int(a.int("status")), a.shape("delay"), bodySize(a), a.word("retry-after")
			location := a.word("location")
			var ahead time.Duration
			dated := strings.HasPrefix(retry, "date")
			if dated {
				retry = strings.Replace(retry, "date ", "date+", 1) // a + in a URL is a space
			}
			if dated {
				var err error
				if ahead, err = parseDuration(strings.TrimPrefix(retry, "date"), -MaxFor, MaxFor); err != nil {
					return behavior{}, err
				}
			}
			if status == http.StatusNoContent || status == http.StatusNotModified {
				size = 0
			}
			return behavior{answers: true, request: func(x *Exchange) {
				if !x.Work(x.draw(delay)) {
					return
				}
				out := answer{status: status, size: size}
				switch {
				case dated:
					out.extra = "Retry-After: " + time.Now().Add(ahead).UTC().Format(http.TimeFormat) + "\r\n"
				case retry != "none":
					out.extra = "Retry-After: " + retry + "\r\n"
				}
				if location != "none" {
					out.extra += "Location: " + location + "\r\n"
				}
				x.answer(out)
			}}, nil
		},
	}
}
