package faults

import "time"

// Stage is a stretch of a listener's schedule in which the same entries are in
// force.
type Stage struct {
	From time.Duration // since the partner's start
	Port string        // the fault of the port, if there is one: then nothing is served
	Rows []Row
}

// Row tells what request and connection of one number get in a stage.
type Row struct {
	Number     uint64
	Request    string        // the fault, as Parse reads it
	Delay      time.Duration // the delay that was drawn for it, if it has one
	Connection string        // the fault that hits the connection of this number; empty: none
}

// MaxRows bounds a schedule.
const MaxRows = 1_000_000

// Schedule tells what will come on a listener of that name: a function of its
// arguments, and exactly what a partner with this seed does, whatever the
// concurrency. Numbers count from 1 to n in each stage.
func Schedule(specs []Spec, seed uint64, listener string, n int) ([]Stage, error) {
	return Modes{}.Schedule(specs, seed, listener, n)
}

// Schedule is the function Schedule for faults of m.
func (m Modes) Schedule(specs []Spec, seed uint64, listener string, n int) ([]Stage, error) {
	if err := m.checkSpecs(specs); err != nil {
		return nil, err
	}
	if listener == "" {
		listener = modeOf(specs)
	}
	p, err := newPlan(specs, seed, listener)
	if err != nil {
		return nil, err
	}
	var stages []Stage
	for _, from := range p.changes() {
		stage := Stage{From: from, Rows: []Row{}}
		if s := p.portSpec(from); s != nil {
			stage.Port = s.String()
		}
		for i := range uint64(min(n, MaxRows)) {
			if stage.Port == "" {
				stage.Rows = append(stage.Rows, p.row(i+1, from))
			}
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

func (p *plan) row(n uint64, at time.Duration) Row {
	r := Row{Number: n}
	s := p.request(n, at)
	r.Request = s.String()
	if shape, ok := s.delay(); ok {
		r.Delay = shape.Draw(p.rand(n, streamDelay))
	}
	if c := p.connection(n, at); c != nil {
		r.Connection = c.String()
	}
	return r
}

// delay returns the fault's delay, if it has one.
func (s Spec) delay() (Shape, bool) {
	for i, p := range s.args.params {
		if p.Kind == KindShape {
			shape, ok := s.args.values[i].(Shape)
			return shape, ok
		}
	}
	return Shape{}, false
}
