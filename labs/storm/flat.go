package storm

import (
	"context"
	"net/http"
	"sync"
	"time"

	"chaoslab/budgetcaller"
)

// The calls that are under way at once while Flat measures: enough to keep both
// ends busy, too few to stand in each other's way.
const flatCalls = 32

// Flat measures how many requests a second this machine can make and answer,
// both ends in this process, where each is answered at once with an error, as a
// partner does that has given up. It takes d, or less if ctx ends.
func (o *Own) Flat(ctx context.Context, d time.Duration) (float64, error) {
	caller, err := budgetcaller.New(budgetcaller.Config{MaxConnsPerHost: flatCalls})
	if err != nil {
		return 0, err
	}
	defer caller.Close()
	ctx, cancel, err := budgetcaller.Begin(ctx, d)
	if err != nil {
		return 0, err
	}
	defer cancel()
	req, err := http.NewRequest(http.MethodGet, o.partner.Listeners()[1].URL, nil)
	if err != nil {
		return 0, err
	}
	before, start := o.partner.Stats()[1].Received, time.Now()
	var calls sync.WaitGroup
	for range flatCalls {
		calls.Go(func() {
			for ctx.Err() == nil {
				if _, err := caller.Do(ctx, req); err != nil {
					return
				}
			}
		})
	}
	calls.Wait()
	took := time.Since(start).Seconds()
	return float64(o.partner.Stats()[1].Received-before) / took, nil
}
