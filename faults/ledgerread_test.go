package faults

import (
	"errors"
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

// TestEachIsBounded: whoever reads a full ledger slowly makes the partner hold a
// few of its entries, and gets those in order that have not fallen out meanwhile.
func TestEachIsBounded(t *testing.T) {
	t.Parallel()
	const size = 10_000
	l := newLedger(time.Now(), size)
	owner := &listener{p: &Partner{modes: Names()}, name: "ok"}
	begin := func(n int) {
		for range n {
			l.begin(&entry{listener: owner, isRequest: true, ended: 1, final: true})
		}
	}
	begin(size)
	var last uint64
	got := 0
	err := l.Each(Query{}, func(e Entry) error {
		if e.Seq <= last {
			t.Fatalf("entry %d after %d", e.Seq, last)
		}
		last = e.Seq
		if got++; got == 1 {
			begin(size / 2) // half of them fall out while the first is read
		}
		return nil
	})
	if err != nil || last != size || got < size/2 || got > size/2+piece {
		t.Errorf("got %d entries up to %d, %v; want half of %d, a piece more at most, and none that began later", got, last, err, size)
	}
	stop := errors.New("enough")
	got = 0
	if err := l.Each(Query{Limit: 700}, func(Entry) error {
		if got++; got == 600 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) || got != 600 {
		t.Errorf("stopped by its reader: %d entries, %v", got, err)
	}
	if all := l.Entries(Query{Limit: 700}); len(all) != 700 || all[0].Seq != size*3/2-699 {
		t.Errorf("the newest 700: %d from %d", len(all), all[0].Seq)
	}
	l.Clear()
	if all := l.Entries(Query{}); len(all) != 0 {
		t.Errorf("after Clear: %d entries", len(all))
	}
}
