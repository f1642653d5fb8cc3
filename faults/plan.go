package faults

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// plan is what a listener does: its faults in order, and the counters by which
// they strike. A new plan starts counting afresh.
type plan struct {
	specs    []Spec
	ok       Spec
	started  []time.Duration // of each entry with a span, from the plan's start
	stages   bool            // some entry has a span
	chance   bool            // some entry draws
	atAccept bool            // some entry acts on connections
	hasPort  bool            // some entry acts on the port
	seed     uint64          // of the listener
	begun    int64           // when it came into force
	until    int64           // when it falls back; 0: never

	replaced chan struct{} // closed when another plan takes its place

	requests, connections atomic.Uint64
}

func newPlan(specs []Spec, seed uint64, listener string) (*plan, error) {
	h := fnv.New64a()
	h.Write([]byte(listener))
	p := &plan{replaced: make(chan struct{}), seed: seed ^ h.Sum64(), ok: Spec{}.whole(), started: make([]time.Duration, len(specs))}
	var at time.Duration
	for i, s := range specs {
		s = s.fresh()
		p.specs = append(p.specs, s)
		p.started[i] = at
		at += s.span
		p.stages = p.stages || s.span > 0
		p.atAccept = p.atAccept || s.Level() == LevelConnection
		p.hasPort = p.hasPort || s.Level() == LevelPort
		p.chance = p.chance || s.when.Ratio > 0
	}
	if err := p.checkRow(); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// active says whether entry i is in force at t after the plan's start. Entries
// with a span follow one another; those without are always in force.
func (p *plan) active(i int, t time.Duration) bool {
	span := p.specs[i].span
	return span == 0 || (t >= p.started[i] && t < p.started[i]+span)
}

// changes returns the points in time at which another stage begins, the first
// of which is 0.
func (p *plan) changes() []time.Duration {
	changes := []time.Duration{0}
	for i, s := range p.specs {
		if s.span > 0 {
			changes = append(changes, p.started[i]+s.span)
		}
	}
	return changes
}

// port returns the state that the port is to have at t.
func (p *plan) port(t time.Duration) portState {
	if s := p.portSpec(t); s != nil {
		return s.behavior.port
	}
	return portOpen
}

// The streams of chance that one request draws from: apart, so that a delay does
// not depend on what stood before it in the list.
const (
	streamConnection = iota
	streamRequest
	streamDelay
	streams
)

// rand returns the generator for number n: a function of seed, listener and
// number alone.
func (p *plan) rand(n uint64, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(p.seed, n*streams+stream))
}

// pick returns the fault at level for the request or connection of number n at
// t, or nil if none is hit.
func (p *plan) pick(level Level, n uint64, t time.Duration) *Spec {
	var r *rand.Rand
	if p.chance {
		stream := uint64(streamRequest)
		if level == LevelConnection {
			stream = streamConnection
		}
		r = p.rand(n, stream)
	}
	for i := range p.specs {
		s := &p.specs[i]
		// Every ratio draws, also where it does not matter, so that the row of
		// outcomes does not shift with time.
		hit := s.when.hits(n, r)
		switch {
		case !hit || p.stages && !p.active(i, t):
		case s.Level() == level:
			return s
		case level == LevelConnection && s.hitsAll():
			return nil // it takes the requests of every connection
		}
	}
	return nil
}

// connection returns the fault for connection number n, or nil.
func (p *plan) connection(n uint64, t time.Duration) *Spec {
	if !p.atAccept {
		return nil
	}
	return p.pick(LevelConnection, n, t)
}

// first returns the index of the fault that stands first.
func (p *plan) first() int16 {
	if len(p.specs) == 0 {
		return p.ok.fault.index
	}
	return p.specs[0].fault.index
}

// request returns the fault for request number n.
func (p *plan) request(n uint64, t time.Duration) *Spec {
	if s := p.pick(LevelRequest, n, t); s != nil {
		return s
	}
	return &p.ok
}

// isTLS says whether clients are meant to speak TLS, although the listener does
// not.
func (p *plan) isTLS() bool {
	return len(p.specs) == 1 && p.specs[0].behavior.tls
}

// modeOf names what the faults do.
func modeOf(specs []Spec) string {
	if len(specs) == 0 {
		return Spec{}.Name()
	}
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name()
	}
	return strings.Join(names, "+")
}

// MaxFaults bounds the faults in a row on one listener.
const MaxFaults = 100

func (m Modes) checkSpecs(specs []Spec) error {
	if len(specs) > MaxFaults {
		return fmt.Errorf("more than %d faults on one listener", MaxFaults)
	}
	all := m.All()
	for _, s := range specs {
		if i := int(s.fault.index); i >= len(all) || all[i].Name != s.Name() {
			return fmt.Errorf("%s is not among the modes of this partner", s.Name())
		}
	}
	return nil
}

// release gives back what the faults hold, as nothing more will be asked of them.
func (p *plan) release() {
	for _, s := range p.specs {
		if s.behavior.close != nil {
			s.behavior.close()
		}
	}
}
