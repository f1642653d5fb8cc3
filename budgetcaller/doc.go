// Package budgetcaller makes HTTP calls under limits and says how each really
// ended: its class, the phase it was in, the limit that fired, and whether the
// partner may have carried it out.
//
// It deliberately leaves out HTTP/2, where one connection is shared by several
// calls.
package budgetcaller
