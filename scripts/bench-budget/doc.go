// Package benchbudget compares budgetcaller's parts with the libraries that one
// would otherwise take for them. It is a module of its own, so that who uses the
// library gets none of these. Nothing is asserted:
//
//	go -C scripts/bench-budget test -bench . -count 10
package benchbudget
