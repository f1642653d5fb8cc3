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
// of the work first, is then in the same order here. Limits after which others go
// on, as those of each try, share that half unit. A chain whose calls add up to
// more delay than that comes out differently; Measured.Agrees says so, and a
// longer unit helps.
//
// Calls that reach the leaf at one moment reach a real one in any order. So each
// tells the way by which it came, and the leaf takes as long for it and answers
// as for the call of that way in the simulation: the same seed gives the same
// draws.
//
// # What it leaves out
//
// Jitter: the library by which a hop calls draws its waits by itself. Chains of
// one hop, which call nobody. And a try that would start at the very moment at
// which its hop is told to stop: nothing real is between the two.
package realchain
