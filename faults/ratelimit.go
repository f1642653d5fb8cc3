package faults

import (
	"fmt"
	"net/http"
	"sync"
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
			b := &bucket{limiter: rate.NewLimiter(rate.Limit(float64(a.int("rate"))/a.duration("per").Seconds()), int(a.int("burst")))}
			return behavior{counts: true, limits: true, request: func(x *Exchange) {
				wait := b.take()
				if wait == 0 {
					x.answer(answer{status: http.StatusOK, size: defaultSize})
					return
				}
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

// bucket gives out tokens one by one. Its lock makes asking and looking one step:
// a reservation that is cancelled while a later one stands is not given back.
type bucket struct {
	mu      sync.Mutex
	limiter *rate.Limiter
}

// take takes a token and returns 0, or the time to the next one.
func (b *bucket) take() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - b.limiter.TokensAt(now)
	return max(1, time.Duration(missing/float64(b.limiter.Limit())*float64(time.Second)))
}
