// Package stall tells a test how long the machine kept it waiting. A bound that
// leaves room for the busiest machine holds nothing on a quiet one; with this, what
// is too late is told from what came late because everything did.
//
//	var machine = stall.Start() // of the whole test program
//
//	began := time.Now()
//	call()
//	if took := time.Since(began); took > limit+slack+machine.Room(began) {
//		t.Errorf("took %v", took)
//	}
//
// Where a stall changes not only when something happens but what, no bound helps:
// Again tries again what went wrong while the machine stalled, and only that.
//
// It leaves out where a stall came from, and other processes' waits, which the
// referee of labs measures for the programs that it grades.
package stall
