package faults

import "net"

// Troubles tells which ports are not in the state that they are to be in now, in
// the order of Config: a black hole that answers, a port that could not be taken
// to its next state or accepts no more. None: all is as it was asked for.
func (p *Partner) Troubles() []Event {
	var all []Event
	for _, l := range p.listeners {
		all = append(all, l.troubles()...)
	}
	return all
}

func (l *listener) troubles() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return []Event{{l.name, "it is closed"}}
	}
	if l.failed != "" {
		return []Event{{l.name, l.failed}}
	}
	var all []Event
	for _, g := range l.gates {
		if text := g.trouble(); text != "" {
			all = append(all, Event{l.name, text})
		}
	}
	return all
}

// check mends black holes.
func (l *listener) check() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	for _, g := range l.gates {
		if text := g.check(); text != "" {
			l.p.cfg.Event(Event{l.name, text})
		}
	}
}

// acceptsNoMore notes that accepting on ln has ended with an error that does not
// pass.
func (l *listener) acceptsNoMore(ln net.Listener, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.gates {
		if !l.closed && g.ln == ln {
			l.failed = "nothing more is accepted: " + err.Error()
			l.p.cfg.Event(Event{l.name, l.failed})
		}
	}
}
