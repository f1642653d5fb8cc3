// Package httpsend makes the retry queue's attempts as HTTP calls with
// budgetcaller. A job's payload is a Request in JSON; its id travels as the
// Idempotency-Key, by which the receiver knows a repeat (see package inbox), and
// the number of the attempt as X-Request-Attempt.
//
//	caller, err := budgetcaller.New(budgetcaller.Config{})
//	...
//	sender := httpsend.New(caller, httpsend.DefaultTable())
//	queue, err := retryqueue.New(retryqueue.Config{Store: store, Send: sender.Send})
//
// The budget of an attempt is the context that the queue gives it: what is left
// of the lease and of the time to the job's deadline, whichever is less. What an
// outcome means for the job is looked up in a Table by class and status, which
// the user may replace.
//
// It leaves out following redirects: a job names the address that takes it.
package httpsend
