// Package realchain runs a chain of services that labs/deadlinechain simulates:
// every hop is a partner on loopback with sockets of its own, and what happened
// is read from their ledgers.
//
//	c := deadlinechain.Chain{Hops: 3, Tries: 3, Cost: 10, Budget: 45, Fails: deadlinechain.Always}
//	run, err := realchain.New(c, 10*time.Millisecond)
//	…
//	m, err := run.Measure(ctx)
//	// m.LeafCalls is 9, as simulated; m.Elapsed is a little over 900 ms
//
// # Why they come to the same
//
// A hop decides by its clock, and a real clock is always a little late. So a unit
// of simulated time must be long beside that, and every deadline comes half a
// unit late, by Run.Late: what the simulation has happen at one moment, the end
// of the work first, is then in the same order here. A chain whose calls add up
// to more delay than that comes out differently; Measured.Agrees says so, and a
// longer unit helps.
//
// # What it leaves out
//
// Options that no hop of the kind chain has: a limit of each try, calls at once,
// telling those below to stop, random costs. And chains of one hop, which call
// nobody.
package realchain
