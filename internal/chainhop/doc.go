// Package chainhop is the fault chain: a partner that is one hop of a chain of
// services. It does its own work, calls the next hop, and tries again when that
// fails, with or without a deadline.
//
//	modes := faults.Modes{}.With(chainhop.Fault())
//	hop, err := modes.Parse("chain:next=http://127.0.0.1:8081,policy=each,budget=450ms")
//	…
//	p, err := faults.Start(faults.Config{
//		Modes:     modes,
//		Listeners: []faults.ListenerConfig{{Faults: []faults.Spec{hop}}},
//	})
//
// It is the one place where a partner calls by the library that it is meant to
// test: faults itself knows nothing of budgetcaller.
//
// Under the policies none and each a hop works on when its caller has left, as
// real services do, and the ledger tells for how long. Under pass it stops. The
// parameter leaving says otherwise.
//
// A chain in a circle would call itself until something breaks. So every hop puts
// its own mark into HeaderHops, and refuses with 508 a request that has its mark
// already; nobody tries that again. What shows in one partner is found before
// anything is started or changed, by CheckCircle.
//
// It leaves out calls to other machines: what multiplies calls stays on loopback.
// And request bodies: a hop passes on the method and the Idempotency-Key alone.
package chainhop
