package budgetcaller

import "time"

// Hooks are told what a Caller does in Do and in its RoundTripper; a nil hook is
// not called. Run tells none: its Result is all there is to tell. They run on the
// goroutine of the call, so they must be quick and must not call the Caller.
// They are called from many goroutines at once.
type Hooks struct {
	// Attempt is told of every attempt that was made, after it ended.
	Attempt func(AttemptEvent)
	// Wait is told before every wait between two attempts.
	Wait func(WaitEvent)
	// Skip is told when an attempt is not made although a call asked for it:
	// below the floor, breaker open, no time for the wait, throttled.
	Skip func(SkipEvent)
	// Breaker is told of every change of a breaker's state.
	Breaker func(BreakerEvent)
}

// AttemptEvent is one attempt that was made.
type AttemptEvent struct {
	Dependency string
	Number     int     // of the attempt within its call, from 1
	Record     *Record // the hook's own, which it may keep
}

// WaitEvent is a wait that begins.
type WaitEvent struct {
	Dependency string
	Number     int // of the attempt that failed
	Delay      time.Duration
	RetryAfter bool // the partner asked for it; else it is backoff
}

// SkipEvent is an attempt that is not made.
type SkipEvent struct {
	Dependency   string
	Number       int   // which attempt it would have been, from 1
	Class        Class // of the call that ends with it
	Why          string
	Left, Needed time.Duration
}

// BreakerEvent is a change of a breaker's state.
type BreakerEvent struct {
	Dependency string
	From, To   string // closed, open, half_open
	Reason     string
}
