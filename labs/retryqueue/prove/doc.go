// Package prove is the crash test of the retry queue: several worker processes
// share a store and are killed with SIGKILL at random points, stopped past their
// leases, and made to stall right after sending, while jobs, known ones too, are
// handed in and a receiver answers, refuses, drops and delays. Then it lets the
// queue come to rest and checks that nothing was lost, that every effect happened
// once, that no job was started more often than it may be, and that every change
// of every job was a lawful one.
//
//	result, err := prove.Run(ctx, prove.Options{Command: startWorker})
//
// The processes are the program's own: Options.Command starts one that calls
// Worker. What the receiver answers to an attempt and what is handed in depend on
// the seed alone; where a kill falls does not, since it depends on the machine.
//
// It leaves out the loss of power: a killed process loses no write that the
// system has taken. The tests of this package plant the faults that a queue is
// known to have and hold that each is found.
package prove
