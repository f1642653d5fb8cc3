// Package deadlinechain simulates a chain of services, each of which calls the
// next and retries it: how tries multiply, and what a deadline that is handed
// down saves.
//
//	r, err := deadlinechain.Simulate(deadlinechain.Chain{
//		Hops: 3, Tries: 3, Cost: 10, Budget: 45,
//		Fails: deadlinechain.Always, Policy: deadlinechain.Pass,
//	})
//	// r.LeafCalls is 4, r.Elapsed 40, r.Orphaned 0
//
// The entry is hop 1, the last hop is the leaf. Time is a whole number of units
// on a virtual clock: nothing waits, there are no goroutines, and the same Chain
// always gives the same Result.
//
// # The rules
//
// A hop that is called asks whether its own work and one try can still be done
// in time, and before each try whether that try can; if not, it gives up without
// starting. "In time" means: now, plus what the leaf and the own work of the hops
// on the way take, is not after its deadline. It asks before a backoff, not
// after it. A hop whose deadline passes while it waits answers with a failure at
// that moment. What it called works on, unless it shares the deadline or Stop is
// set. An answer that nobody waits for is lost. The leaf's calls are numbered in
// the order in which they start.
//
// Ties: at one moment, first work ends and its answers travel up; then deadlines
// and limits of tries pass, the outermost hop first; then what starts does. So
// work that ends exactly at a deadline is in time, and what starts at the moment
// at which the entry ends is work for nobody.
//
// # Two ways to the answer
//
// A chain whose calls all take the same course is worked out, not played: the
// effort grows with the number of hops and with the places where a deadline
// bites, not with the number of calls, so 64 hops of 10 tries take milliseconds
// and every count is exact. What cannot be worked out (random costs, jitter,
// calls that overlap while the leaf still counts its failures) is played event
// by event; so is a trace. That is bounded: a question that is too large gets
// ErrTooLarge.
//
// # What it leaves out
//
// Queues and workers: the time of a call does not depend on how many there are
// at once. That needs real partners under load, not a formula. The network: a
// call, its answer and the word to stop arrive at the moment they are sent.
package deadlinechain
