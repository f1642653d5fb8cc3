// Package storetest holds every store of the retry queue to the same contract:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) retryqueue.Store { ... })
//	}
//
// Run goes through named cases; Model plays random sequences against a simple
// model with a virtual clock. It leaves out what only a killed process can show:
// see package prove.
package storetest
