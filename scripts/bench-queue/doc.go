// Command bench-queue compares the retry queue with the queues that one would
// otherwise take, on the same work side by side in one run: claim and complete a
// job that does nothing. It is a module of its own, so that who uses the queue
// gets none of these. It starts a PostgreSQL of its own, with fsync on; where
// there is none, it leaves that part out and says so. Nothing is asserted:
//
//	go -C scripts/bench-queue run . -rounds 5
package main
