package faults

import (
	"fmt"
	"time"
)

// checkRow refuses an entry that never has its turn: something else that is in
// force at all its times takes what it is for. A row that is not obeyed is worse
// than none.
func (p *plan) checkRow() error {
	for i, s := range p.specs {
		taker := -1
		for _, t := range p.changes() {
			if !p.active(i, t) {
				continue
			}
			if taker = p.taker(i, t); taker < 0 {
				break
			}
		}
		switch {
		case taker > i:
			return fmt.Errorf("%s can never act while %s stands behind it: that hits every connection, before any request", s, p.specs[taker])
		case taker >= 0:
			return fmt.Errorf("%s can never act while %s stands before it: put it first, or give what comes before it for=DURATION", s, p.specs[taker])
		}
	}
	return nil
}

// taker returns the entry that leaves nothing for entry i at t, or -1.
func (p *plan) taker(i int, t time.Duration) int {
	isPort := p.specs[i].Level() == LevelPort
	for j, s := range p.specs[:i] {
		// A port cannot be shared: it is refused, or there is somebody to serve.
		if p.active(j, t) && (s.hitsAll() || isPort) {
			return j
		}
	}
	if p.specs[i].Level() != LevelRequest || p.specs[i].hitsAll() {
		return -1
	}
	for j := i + 1; j < len(p.specs); j++ {
		switch s := p.specs[j]; {
		case !p.active(j, t) || !s.hitsAll():
		case s.Level() == LevelConnection:
			return j
		default:
			return -1 // nothing behind it acts
		}
	}
	return -1
}

// hitsAll says whether nothing is left for what stands behind s.
func (s Spec) hitsAll() bool { return s.when == When{} }

// portSpec returns the port fault in force at t, or nil: it is what stands first
// of all that is in force.
func (p *plan) portSpec(t time.Duration) *Spec {
	if !p.hasPort {
		return nil
	}
	for i := range p.specs {
		if !p.active(i, t) {
			continue
		}
		if p.specs[i].Level() == LevelPort {
			return &p.specs[i]
		}
		return nil
	}
	return nil
}
