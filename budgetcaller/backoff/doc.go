// Package backoff says how long to wait before a call is tried again: the
// arithmetic of exponential backoff with jitter, and what a partner asked for
// in its Retry-After header.
//
//	policy, err := backoff.New(backoff.Config{Base: 100 * time.Millisecond, Cap: time.Second})
//	...
//	chance := backoff.NewChance(seed, n) // one for each call, n its number
//	wait := policy.Delay(attempt, &chance)
//	if asked, ok := backoff.ParseRetryAfter(value, now); ok {
//		wait = max(wait, asked)
//	}
//
// It deliberately leaves out the wait itself, which belongs to whoever knows
// the budget and the context, and whether a failure is worth a retry at all.
// It knows no clock: the present moment is passed in.
package backoff
