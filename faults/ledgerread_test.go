package faults

import (
	"testing"
	"time"
)

// TestReadingTheLedgerHoldsNobodyUp: whoever reads a full ledger keeps those who
// write to it waiting for a short while at most, and gets it whole.
func TestReadingTheLedgerHoldsNobodyUp(t *testing.T) { // not parallel: it measures
	const size = 1 << 16
	l := newLedger(time.Now(), size)
	owner := &listener{p: &Partner{modes: Names()}, name: "ok"}
	for range size {
		l.begin(&entry{listener: owner, isRequest: true, ended: 1, final: true})
	}
	done := make(chan []Entry)
	began := time.Now()
	go func() { done <- l.Entries(Query{}) }()
	var worst time.Duration
	for {
		select {
		case all := <-done:
			took := time.Since(began)
			if len(all) < size-1000 || all[0].Seq >= all[len(all)-1].Seq {
				t.Errorf("got %d entries, want nearly %d in order", len(all), size)
			}
			if worst > max(took/4, 10*time.Millisecond) {
				t.Errorf("a write waited %v for a reading of %v", worst, took)
			}
			return
		default:
		}
		at := time.Now()
		l.begin(&entry{listener: owner, isRequest: true, ended: 1, final: true})
		worst = max(worst, time.Since(at))
		time.Sleep(100 * time.Microsecond)
	}
}
