package faults

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// listener is one address, or two for localhost, and what happens there.
type listener struct {
	p       *Partner
	name    string
	tls     *tls.Config
	plan    atomic.Pointer[plan]
	stats   counters
	effects effects
	host    string // of Config, as it stands there; empty: the default
	holds   int    // connections in Partner.conns; guarded by Partner.mu

	changing   sync.Mutex // held while the plan is changed; guards the next two
	configured []Spec     // what Config said
	base       []Spec     // what returns when a change with a time to live is over

	mu     sync.Mutex // guards the gates
	gates  []*gate
	failed string // why the port is not what it is to be; empty: it is
	closed bool
}

// Listener tells what there is on one address.
type Listener struct {
	Name      string           `json:"name"`
	Mode      string           `json:"mode"`   // the names of its faults, joined by +
	Faults    []string         `json:"faults"` // as Parse reads them
	URL       string           `json:"url"`
	Addresses []netip.AddrPort `json:"addresses"`
	Open      int64            `json:"open"`               // connections now
	Hung      int64            `json:"hung"`               // connections now that are held without an answer
	UntilMS   float64          `json:"until_ms,omitempty"` // when its former faults return, in Unix milliseconds
}

// Listeners returns the listeners in the order of Config.
func (p *Partner) Listeners() []Listener {
	all := make([]Listener, 0, len(p.listeners))
	for _, l := range p.listeners {
		all = append(all, l.describe())
	}
	return all
}

func (l *listener) describe() Listener {
	pl := l.plan.Load()
	d := Listener{
		Name: l.name, Mode: modeOf(pl.specs), Faults: []string{},
		Open: l.stats.open.Load(), Hung: l.stats.hung.Load(),
	}
	if pl.until != 0 {
		d.UntilMS = l.p.unixMS(pl.until)
	}
	for _, s := range pl.specs {
		d.Faults = append(d.Faults, s.String())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.gates {
		d.Addresses = append(d.Addresses, g.addr)
	}
	scheme := "http://"
	if l.tls != nil || pl.isTLS() {
		scheme = "https://"
	}
	d.URL = scheme + d.Addresses[0].String()
	return d
}

// newListener binds the addresses of lc. Nothing is accepted before applyNow.
// With an error the listener may be nil or hold what there is so far.
func (p *Partner) newListener(lc ListenerConfig) (*listener, error) {
	l := &listener{p: p, name: lc.Name, tls: lc.TLS}
	l.stats.byMode = make([][outcomes]atomic.Uint64, len(p.modes))
	l.stats.byClient = make([]atomic.Uint64, len(p.modes))
	l.stats.asked, l.stats.over = newHistogram(), newHistogram()
	if err := p.cfg.Modes.checkSpecs(lc.Faults); err != nil {
		return nil, &ConfigError{err}
	}
	if l.name == "" {
		l.name = modeOf(lc.Faults)
	} else if err := CheckName(l.name); err != nil {
		return nil, &ConfigError{err}
	}
	pl, err := newPlan(lc.Faults, p.cfg.Seed, l.name)
	if err != nil {
		return nil, &ConfigError{err}
	}
	pl.begun = p.clock.now()
	l.plan.Store(pl)
	l.configured, l.base = lc.Faults, lc.Faults
	addrs, err := addresses(lc.Listen, p.cfg.AllowRemote)
	if err != nil {
		return nil, &ConfigError{err}
	}
	l.host, _, _ = splitHostPort(lc.Listen)
	if l.gates, err = openGates(addrs); err != nil {
		return nil, fmt.Errorf("listener %s: %w", l.name, err)
	}
	return l, nil
}

// openGates binds all the addresses, on the same port. A port that is free on
// the first and not on the others is no error if any port will do.
func openGates(addrs []netip.AddrPort) ([]*gate, error) {
	var err error
	for range openTries {
		var gates []*gate
		for i, addr := range addrs {
			if i > 0 {
				addr = netip.AddrPortFrom(addr.Addr(), gates[0].addr.Port())
			}
			var g *gate
			g, err = openGate(addr)
			if i > 0 && (errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)) {
				err = nil
				continue // localhost without IPv6
			}
			if err != nil {
				break
			}
			gates = append(gates, g)
		}
		if err == nil {
			return gates, nil
		}
		for _, g := range gates {
			g.close()
		}
		if len(gates) == 0 || addrs[0].Port() != 0 {
			break
		}
	}
	return nil, err
}

// applyNow brings the gates into the state of the plan in force, and keeps them
// in it.
func (l *listener) applyNow() error {
	pl := l.plan.Load()
	if pl.stages {
		l.p.spawn(func() { l.follow(pl) })
	}
	return l.applyPort(pl)
}

// follow takes the gates from stage to stage until the plan is replaced.
func (l *listener) follow(pl *plan) {
	for _, at := range pl.changes()[1:] {
		t := time.NewTimer(at - time.Duration(l.p.clock.now()-pl.begun))
		select {
		case <-t.C:
		case <-pl.replaced:
			t.Stop()
			return
		case <-l.p.stopping:
			t.Stop()
			return
		}
		if err := l.applyPort(pl); err != nil {
			l.p.cfg.Event(Event{l.name, err.Error()})
		}
	}
}

// applyPort brings the gates into the state that pl wants now.
func (l *listener) applyPort(pl *plan) error {
	state := pl.port(time.Duration(l.p.clock.now() - pl.begun))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.plan.Load() != pl {
		return nil
	}
	l.failed = ""
	for _, g := range l.gates {
		before := g.ln
		if err := g.set(state); err != nil {
			l.failed = err.Error()
			return err
		}
		if g.ln != nil && g.ln != before {
			ln := g.ln
			l.p.spawn(func() { l.accept(ln) })
		}
	}
	if pl.hasPort || pl.atAccept {
		l.endIdle()
	}
	return nil
}

func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	for _, g := range l.gates {
		g.close()
	}
}
