package faults

// office is the workers and the queue of a fault that has them, and how many
// of both it is to have and for what work.
type office struct {
	line          *line
	workers, room int
	work          Shape
}

func newOffice(workers, room int, work Shape) *office {
	return &office{newLine(workers, room, work), workers, room, work}
}

// moveInto has the faults of p with workers go on with the lines of those in
// before, in order: a service that turns slow, or well again, keeps those who
// wait for it. p must not be in
// force yet, or have been before, and return.
func (p *plan) moveInto(before *plan) {
	former := before.offices()
	for i, o := range p.offices() {
		if i == len(former) {
			return
		}
		if o.line != former[i].line { // in a plan that returns it is
			o.line = former[i].line
		}
		o.line.change(o.workers, o.room, o.work)
	}
}

func (p *plan) offices() []*office {
	var all []*office
	for _, s := range p.specs {
		if s.behavior.office != nil {
			all = append(all, s.behavior.office)
		}
	}
	return all
}
