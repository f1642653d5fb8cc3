package budgetcaller

// line holds who waits for what point in time: a heap, so that the first is
// known at once. All that moves in it is kept close together, since with ten
// thousand in the line each look elsewhere would cost more than the rest. The
// zero line is empty.
type line struct {
	heap  []place
	slots []slot // slots[0] stands for none
	free  []int32
}

// place is one place of the heap: when, and which slot.
type place struct {
	due  int64
	slot int32
}

// slot is who waits, and at which place of the heap.
type slot struct {
	who   *attempt
	place int32
}

// first returns who is due first and when, nil and never if nobody waits.
func (l *line) first() (*attempt, int64) {
	if len(l.heap) == 0 {
		return nil, never
	}
	return l.slots[l.heap[0].slot].who, l.heap[0].due
}

// add adds who and returns its slot, which is not 0.
func (l *line) add(who *attempt, due int64) int32 {
	var s int32
	if n := len(l.free); n > 0 {
		s, l.free = l.free[n-1], l.free[:n-1]
	} else {
		if len(l.slots) == 0 {
			l.slots = append(l.slots, slot{})
		}
		s = int32(len(l.slots))
		l.slots = append(l.slots, slot{})
	}
	l.slots[s].who = who
	l.heap = append(l.heap, place{})
	l.up(len(l.heap)-1, place{due, s})
	return s
}

// advance makes s due at the point due, if that is earlier.
func (l *line) advance(s int32, due int64) {
	if i := int(l.slots[s].place); due < l.heap[i].due {
		l.up(i, place{due, s})
	}
}

// remove takes out who is in slot s.
func (l *line) remove(s int32) {
	i := int(l.slots[s].place)
	l.slots[s] = slot{}
	l.free = append(l.free, s)
	last := len(l.heap) - 1
	moved := l.heap[last]
	l.heap = l.heap[:last]
	switch {
	case i == last:
	case i > 0 && moved.due < l.heap[(i-1)/2].due:
		l.up(i, moved)
	default:
		l.down(i, moved)
	}
}

func (l *line) put(i int, p place) {
	l.heap[i] = p
	l.slots[p.slot].place = int32(i)
}

// up puts p to the free place i or further forward.
func (l *line) up(i int, p place) {
	for i > 0 {
		above := (i - 1) / 2
		if p.due >= l.heap[above].due {
			break
		}
		l.put(i, l.heap[above])
		i = above
	}
	l.put(i, p)
}

// down puts p to the free place i or further back.
func (l *line) down(i int, p place) {
	for {
		below := 2*i + 1
		if below >= len(l.heap) {
			break
		}
		if next := below + 1; next < len(l.heap) && l.heap[next].due < l.heap[below].due {
			below = next
		}
		if l.heap[below].due >= p.due {
			break
		}
		l.put(i, l.heap[below])
		i = below
	}
	l.put(i, p)
}
