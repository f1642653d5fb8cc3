package faults

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Ledger is the partner's record of every connection and request. It is
// bounded: the oldest entries fall out, also those not yet ended. It is safe
// for concurrent use.
type Ledger struct {
	base time.Time

	mu      sync.Mutex
	ring    []*entry // grows up to its capacity, then goes round
	size    int
	next    int    // where the next entry goes
	seq     uint64 // of the newest entry
	dropped uint64 // entries that fell out
	missed  atomic.Uint64
	changed chan struct{}
	feeds   map[*Feed]struct{}
}

func newLedger(base time.Time, size int) *Ledger {
	return &Ledger{base: base, size: size, feeds: map[*Feed]struct{}{}}
}

// Query says which entries are asked for. The zero value asks for all.
type Query struct {
	Listener string         // only this listener
	Remote   netip.AddrPort // only the newest connection from this address and its requests
	// Nth asks for the so manyth request of the connection, or, where none
	// came, for the connection itself. It needs Remote.
	Nth   int
	After uint64 // only entries with a greater Seq
	Limit int    // at most so many of the newest; 0: all
}

// begin puts a copy of e into the ledger and returns it. It changes only by
// update and publish, until it is final: then it belongs to the ledger alone.
func (l *Ledger) begin(e *entry) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e.seq = l.seq
	if len(l.ring) < l.size {
		slot := new(entry)
		*slot = *e
		l.ring = append(l.ring, slot)
		l.next = len(l.ring) % l.size
		return slot
	}
	slot := l.ring[l.next]
	if !slot.final {
		slot = new(entry) // whoever holds the old one goes on with it
	}
	*slot = *e
	l.ring[l.next] = slot
	l.next = (l.next + 1) % l.size
	l.dropped++
	return slot
}

// publish makes slot what e is now.
func (l *Ledger) publish(slot, e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*slot = *e
	l.tell(slot)
}

// update changes a slot whose writer has gone.
func (l *Ledger) update(slot *entry, change func(*entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(slot)
	l.tell(slot)
}

// tell wakes those who wait for e and feeds the streams if it is final.
func (l *Ledger) tell(e *entry) {
	if l.changed != nil && e.ended != 0 {
		close(l.changed)
		l.changed = nil
	}
	if e.final && len(l.feeds) > 0 {
		out := e.export(l.base)
		for f := range l.feeds {
			f.offer(out)
		}
	}
}

// Clear forgets all entries. What has not ended is forgotten too, and so is how
// it will end. Sequence numbers go on.
func (l *Ledger) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring, l.next = nil, 0
}

// Dropped returns how many entries fell out to make room for newer ones.
func (l *Ledger) Dropped() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Missed returns how many entries streams have lost in all: each stream's loss of
// the same entry counts.
func (l *Ledger) Missed() uint64 { return l.missed.Load() }

// Feed is a stream of the entries that become final from its beginning on, in that
// order: of a request whose client has left, once no more work is done for it. The partner never waits for whoever reads it: what does not fit into
// the buffer is counted as missed.
type Feed struct {
	ledger *Ledger
	ch     chan Entry
	missed atomic.Uint64
}

// Follow begins a stream that holds up to buffer entries. Close ends it.
func (l *Ledger) Follow(buffer int) *Feed {
	f := &Feed{ledger: l, ch: make(chan Entry, buffer)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.feeds[f] = struct{}{}
	return f
}

// Entries returns the channel on which the entries come. Close closes it.
func (f *Feed) Entries() <-chan Entry { return f.ch }

// Missed returns how many entries were lost since it was last asked.
func (f *Feed) Missed() uint64 { return f.missed.Swap(0) }

// Close ends the stream. What is in the buffer can still be read.
func (f *Feed) Close() {
	f.ledger.mu.Lock()
	defer f.ledger.mu.Unlock()
	if _, open := f.ledger.feeds[f]; open {
		delete(f.ledger.feeds, f)
		close(f.ch)
	}
}

func (f *Feed) offer(e Entry) {
	select {
	case f.ch <- e:
	default:
		f.missed.Add(1)
		f.ledger.missed.Add(1)
	}
}
