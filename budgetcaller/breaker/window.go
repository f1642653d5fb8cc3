package breaker

// tally counts calls that had an outcome.
type tally struct{ calls, failures int }

// reaches says whether the failure rate is at least threshold percent. It
// multiplies instead of dividing: 1 of 3 is then exactly not 33.34 percent, and
// no calls at all reach nothing.
func (t tally) reaches(threshold float64) bool {
	return t.calls > 0 && float64(t.failures)*100 >= threshold*float64(t.calls)
}

// window holds the outcomes of the last calls, one bit each, and their tally.
type window struct {
	tally
	size   int
	next   int // where the next outcome goes; once full, where the oldest is
	failed []uint64
}

func newWindow(size int) window {
	return window{size: size, failed: make([]uint64, (size+63)/64)}
}

func (w *window) add(failed bool) {
	word, bit := &w.failed[w.next/64], uint64(1)<<(w.next%64)
	if w.calls < w.size {
		w.calls++
	} else if *word&bit != 0 {
		w.failures--
	}
	*word &^= bit
	if failed {
		*word |= bit
		w.failures++
	}
	if w.next++; w.next == w.size {
		w.next = 0
	}
}

func (w *window) clear() {
	clear(w.failed)
	w.tally, w.next = tally{}, 0
}
