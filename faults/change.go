package faults

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// MaxTTL is the longest time to live of a change.
const MaxTTL = 24 * time.Hour

// Set gives a listener other faults. With a ttl above 0 those that it had before
// return by themselves after it; if such a change is followed by another, what
// returns is still what the last change without a ttl, or Config, said. Counting
// starts afresh, and connections stay, but for two cases. Where the port is to be
// refused or silent, idle connections are closed at once and busy ones at their
// next request, without an answer. Where a fault hits connections as they are
// accepted, those from before are closed too, the busy ones after their next
// answer, so that their clients come again. Where an overload follows
// an overload, those in its queue stay in it. On an error nothing has changed.
func (p *Partner) Set(listener string, specs []Spec, ttl time.Duration) error {
	l, err := p.find(listener)
	if err != nil {
		return err
	}
	if p.isStopping() {
		return errors.New("the partner is shutting down")
	}
	if ttl < 0 || ttl > MaxTTL {
		return &ConfigError{fmt.Errorf("ttl %v is out of range: 0 to %s", ttl, short(MaxTTL))}
	}
	return l.set(specs, ttl)
}

// set puts the faults into force unless Config.Check has something against it.
func (l *listener) set(specs []Spec, ttl time.Duration) error {
	l.p.changes.Lock()
	defer l.p.changes.Unlock()
	if err := l.p.check(l, specs); err != nil {
		return &ConfigError{err}
	}
	return l.changeTo(specs, ttl)
}

func (l *listener) changeTo(specs []Spec, ttl time.Duration) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	return l.change(specs, ttl)
}

// check asks Config.Check about other faults on l.
func (p *Partner) check(l *listener, specs []Spec) error {
	if p.cfg.Check == nil {
		return nil
	}
	all := make([]ListenerConfig, len(p.listeners))
	for i, other := range p.listeners {
		all[i] = ListenerConfig{Name: other.name, Listen: other.address(), Faults: other.plan.Load().specs, TLS: other.tls}
		if other == l {
			all[i].Faults = specs
		}
	}
	return p.cfg.Check(all)
}

// address is where the listener listens, as Config would have it.
func (l *listener) address() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.gates[0].addr
	host := l.host
	if host == "" {
		host = at.Addr().String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(at.Port())))
}

// Reset gives a listener, or all if the name is empty, the faults of Config.
func (p *Partner) Reset(listener string) error {
	if listener != "" {
		l, err := p.find(listener)
		if err != nil {
			return err
		}
		return l.set(l.configured, 0)
	}
	// All together are as they were begun with: what is amiss on the way is no
	// matter for Config.Check.
	p.changes.Lock()
	defer p.changes.Unlock()
	for _, l := range p.listeners {
		if err := l.changeTo(l.configured, 0); err != nil {
			return err
		}
	}
	return nil
}

func (p *Partner) find(name string) (*listener, error) {
	names := make([]string, len(p.listeners))
	for i, l := range p.listeners {
		if l.name == name {
			return l, nil
		}
		names[i] = l.name
	}
	return nil, &ConfigError{fmt.Errorf("no listener %q: one of %s", name, strings.Join(names, ", "))}
}

// change puts another plan into force, or leaves everything as it was.
func (l *listener) change(specs []Spec, ttl time.Duration) error {
	if err := l.p.cfg.Modes.checkSpecs(specs); err != nil {
		return &ConfigError{err}
	}
	pl, err := newPlan(specs, l.p.cfg.Seed, l.name)
	if err != nil {
		return &ConfigError{err}
	}
	if ttl > 0 {
		pl.until = l.p.clock.now() + int64(ttl)
	}
	pl.begun = l.p.clock.now()
	before := l.plan.Load()
	pl.moveInto(before)
	l.plan.Store(pl)
	if err := l.applyNow(); err != nil {
		before.moveInto(pl)
		l.plan.Store(before)
		close(pl.replaced)
		pl.release()
		if again := l.applyPort(before); again != nil {
			err = fmt.Errorf("%w; and the former faults do not return: %w", err, again)
		}
		return err
	}
	close(before.replaced)
	before.release()
	if ttl == 0 {
		l.base = specs
		return nil
	}
	l.p.spawn(func() { l.fallBack(pl, ttl) })
	return nil
}

// fallBack returns to what was before pl once its time is over, unless it was
// replaced meanwhile.
func (l *listener) fallBack(pl *plan, ttl time.Duration) {
	t := time.NewTimer(ttl)
	defer t.Stop()
	select {
	case <-t.C:
	case <-pl.replaced:
		return
	case <-l.p.stopping:
		return
	}
	l.changing.Lock()
	defer l.changing.Unlock()
	if l.plan.Load() != pl {
		return
	}
	if err := l.change(l.base, 0); err != nil {
		l.p.cfg.Event(Event{l.name, "the former faults do not return: " + err.Error()})
	}
}

// Effects tells what each listener has really done, in the order of Config.
func (p *Partner) Effects() []Effects {
	all := make([]Effects, 0, len(p.listeners))
	for _, l := range p.listeners {
		all = append(all, l.effects.export(l.name, p.unixMS))
	}
	return all
}

// ClearEffects makes every listener forget its effects and keys.
func (p *Partner) ClearEffects() {
	for _, l := range p.listeners {
		l.effects.clear()
	}
}
