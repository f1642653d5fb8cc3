package budgetcaller

import "sync/atomic"

// verdict is the one word in which an attempt's phase and, in the end, its
// outcome live. Once an outcome is in it, nothing changes it any more: whoever
// wins that one compare-and-swap (the attempt itself, its watchdog or a cancel)
// decides the class, and a phase reached after it does not count. The zero
// value is undecided in PhaseNone.
type verdict struct{ word atomic.Uint32 }

// outcome is an unpacked verdict; it is decided if class is not ClassNone.
type outcome struct {
	phase Phase
	class Class
	limit Limit
}

func (o outcome) pack() uint32 {
	return uint32(o.phase) | uint32(o.class)<<8 | uint32(o.limit)<<16
}

func (o outcome) decided() bool { return o.class != ClassNone }

func (v *verdict) load() outcome {
	w := v.word.Load()
	return outcome{Phase(w & 0xff), Class(w >> 8 & 0xff), Limit(w >> 16 & 0xff)}
}

// enter moves on to phase p and reports whether it did. It never moves back,
// and not at all once the outcome is decided.
func (v *verdict) enter(p Phase) bool {
	for {
		o := v.load()
		if o.decided() || o.phase >= p {
			return false
		}
		if v.word.CompareAndSwap(o.pack(), outcome{phase: p}.pack()) {
			return true
		}
	}
}

// decide freezes the outcome in the phase that is current, and reports whether
// it was the first to do so.
func (v *verdict) decide(c Class, l Limit) bool {
	for {
		o := v.load()
		if o.decided() {
			return false
		}
		if v.decideFrom(o, c, l) {
			return true
		}
	}
}

// decideFrom freezes the outcome only if nothing has changed since o was
// loaded, the phase included.
func (v *verdict) decideFrom(o outcome, c Class, l Limit) bool {
	return v.word.CompareAndSwap(o.pack(), outcome{o.phase, c, l}.pack())
}

// restart goes back to PhasePool after a request of which nothing was written,
// and reports false if the outcome was decided meanwhile.
func (v *verdict) restart() bool {
	for {
		o := v.load()
		if o.decided() {
			return false
		}
		if v.word.CompareAndSwap(o.pack(), outcome{phase: PhasePool}.pack()) {
			return true
		}
	}
}
