package faults

import (
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

func rateLimitFault() Fault {
	return Fault{
		Name: "rate-limit", Effect: "when let through", acts: true, Curl: "0", Class: "ok",
		Summary: "a token bucket: answers while there are tokens, else 429 with a true Retry-After",
		Params: []Param{
			{Name: "rate", Kind: KindInt, Default: "10", Min: 1, Max: 1 << 20, Help: "tokens that are added per per"},
			{Name: "per", Kind: KindDuration, Default: "1s", Min: int64(time.Millisecond), Max: int64(MaxDelay), Help: "the time in which rate tokens are added, evenly"},
			{Name: "burst", Kind: KindInt, Default: "1", Min: 1, Max: 1 << 20, Help: "tokens that the bucket holds; it is full at the start"},
		},
		build: func(a args) (behavior, error) {
			limiter := rate.NewLimiter(rate.Limit(float64(a.int("rate"))/a.duration("per").Seconds()), int(a.int("burst")))
			return behavior{request: func(x *Exchange) {
				now := time.Now()
				r := limiter.ReserveN(now, 1)
				wait := r.DelayFrom(now)
				if wait == 0 {
					x.answer(answer{status: http.StatusOK, size: defaultSize})
					return
				}
				r.CancelAt(now)
				// The header counts whole seconds: rounded up, so that whoever
				// obeys it and is alone gets a token.
				seconds := int64((wait + time.Second - 1) / time.Second)
				x.answer(answer{
					status: http.StatusTooManyRequests, size: defaultSize, noEffect: true,
					extra: fmt.Sprintf("Retry-After: %d\r\n", seconds),
				})
			}}, nil
		},
	}
}
