// Command bench-budget compares budgetcaller with the libraries that one would
// otherwise take, and with the standard library's client, side by side in one
// run. It is a module of its own, so that who uses the library gets none of
// these. Nothing is asserted:
//
//	go -C scripts/bench-budget run . -rounds 10
package main
