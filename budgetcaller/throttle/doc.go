// Package throttle caps the share of retries among calls, so that a partner
// that fails gets a little more load and not a multiple of it.
//
//	th, err := throttle.New(throttle.Config{})
//	...
//	th.Call(now)          // for every call, at its first attempt
//	if !th.Retry(now) {   // before every further attempt, as the last question
//		return err        // stop with the failure that there is
//	}
//
// The idea, and the two figures it is set by, are those of Finagle's
// RetryBudget (https://finagle.github.io/blog/2016/02/08/retry-budgets/): a
// share of the calls of the last while, and on top of it a number a second that
// is always allowed, so that who calls seldom can retry at all. Two things
// differ. The share is 10 percent where Finagle takes 20, as in Google's SRE
// book, "Handling Overload". And what is always allowed is paid out by the
// second: Finagle grants a whole window of it at once, which is a burst at the
// worst moment and nothing for the rest of the window. It is called a throttle
// because a budget is time here.
//
// It deliberately leaves out why a retry is wanted and when it is made. It
// knows no clock: the present moment is passed in.
package throttle
