// Package retryqueue keeps calls that must happen in the end: each is a job that
// is written down before it is sent, tried again until it succeeds, and given up
// only for a reason that stays readable. Its budget, a deadline and a number of
// attempts, survives a restart.
//
//	store, err := sqlite.Open(ctx, "queue.db", sqlite.Options{Create: true})
//	...
//	queue, err := retryqueue.New(retryqueue.Config{Store: store, Send: send})
//	...
//	_, err = queue.Add(ctx, retryqueue.NewJob{ID: "order-17", Deadline: deadline, MaxAttempts: 5})
//	report, err := queue.RunOnce(ctx)
//
// # The contract
//
// An attempt is spent when it is claimed, before anything is sent, and is never
// given back, also when the process dies. So attempts only grow, and (id,
// attempt) is the fence: a write that belongs to an older claim changes nothing
// and its owner is told so with ErrLeaseLost.
//
// A failure worth retrying puts the job back with a time before which it is not
// taken again; nobody sleeps while holding the store's lock. It ends as dead
// instead with ReasonExhausted if no attempt is left, else with ReasonDeadline if
// now plus the delay reaches the deadline. A permanent failure ends it with
// ReasonPermanent. An error that is neither is handed to whoever called as it
// is, and the job stays leased until its lease ends; its text is kept.
//
// A claim also ends what can no longer be sent: a job whose deadline passed
// while nobody worked (no attempt is spent), and one whose last attempt ran out
// of its lease. The deadline of a job never moves, and handing in an id that is
// known changes nothing; only Redrive, a person's act, gives a dead job more
// attempts and a new deadline. Finished jobs stay in the store, so that an old id
// stays known; Purge drops their payloads only.
//
// The same job may reach the receiver twice (a lease that ran out, a process that
// died between sending and writing). The receiver must know ids that it has seen:
// see package inbox.
//
// # Time
//
// Points in time are whole milliseconds of one clock that is passed in. RunOnce
// reads it before and after sending; if it went backwards in between, the error
// is ErrClockBackwards: a success or a permanent failure is still written down,
// since no arithmetic hangs on it, and everything else stays leased.
//
// Workers whose clocks differ: the claimer's clock decides. One that is d ahead
// takes a lease over d too early and ends a job d before its deadline; one that
// is d behind does both d too late. The fence holds all the same: no attempt is
// made twice and the maximum stands. So keep leases well above the difference of
// the clocks plus the longest send.
//
// # What it leaves out
//
// Priorities, several queues in one store, periodic jobs, and waking a sleeping
// worker from another process: workers poll. Nothing is ever deleted.
package retryqueue
