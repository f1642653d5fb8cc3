// Package breaker is a circuit breaker in resilience4j's terms: it stops calls
// to a partner of which too many failed, and after a while lets a few through
// to see whether it is well again.
//
//	b, err := breaker.New(breaker.Config{})
//	...
//	permit, change, err := b.Admit(time.Now())
//	defer permit.Release() // whatever happens: a panic, a cancel, an early return
//	report(change)         // nil for no change
//	if err != nil {
//		return err // ErrOpen or ErrHalfOpen: do not call
//	}
//	outcome := call()
//	report(permit.Record(time.Now(), outcome))
//
// Closed, it judges the last SlidingWindowSize calls once there are
// MinimumNumberOfCalls, and opens at a failure rate of FailureRateThreshold or
// more. Open, it lets nothing through for WaitDurationInOpenState. Half-open, it
// lets PermittedNumberOfCallsInHalfOpenState trial calls through, and when all
// of them are back the same threshold opens or closes it. An outcome counts
// only in the period in which its call was let through, so that what comes late
// says nothing about the partner of now.
//
// It calls nobody, starts no goroutine and knows no clock: changes are returned
// and the present moment is passed in. It deliberately leaves out what is
// somebody else's: what counts as a failure, waiting, names and metrics. It
// also leaves out windows by time and rates of slow calls, since a call that is
// too slow for its limits is a failure here, and states set by hand, since an
// operator's switch is no judgement on the partner.
package breaker
