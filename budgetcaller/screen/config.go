package screen

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"chaoslab/budgetcaller"
)

// NoReserve, as the length of Config.Reserve, keeps nothing from the parts.
const NoReserve time.Duration = -1

// The values in force where Config or Part has none, and the bounds.
const (
	// DefaultReserve is the reserve, or a tenth of the budget if that is less.
	DefaultReserve = 50 * time.Millisecond
	// DefaultAvailability is what a part's availability is taken for.
	DefaultAvailability = 0.999
	// MaxParts is how many parts a screen may have.
	MaxParts = 1000
)

// Config says what a screen is made of.
type Config struct {
	// Name stands in errors. Empty: "screen".
	Name string
	// Budget is what the whole screen may take. It must be set. An earlier
	// deadline of the context that Run is given is the budget instead.
	Budget Number
	// Reserve is the part of the budget that the parts do not get, so that the
	// answer can be put together and sent in time. Zero: DefaultReserve.
	Reserve Number
	// Groups are the parts: one group after the other, the parts of each side
	// by side.
	Groups [][]Part
}

// Screen is a Config that was checked. It does not change: Run may be called
// any number of times, also at once.
type Screen struct {
	name    string
	budget  Number
	reserve Number
	groups  [][]part
	behind  behind
}

// part is a Part with its defaults.
type part struct {
	Part
	group   int
	limit   time.Duration // budgetcaller.NoLimit: what is left
	floor   time.Duration
	attempt time.Duration // limit of one attempt, NoLimit if none is known
}

// New returns the screen of cfg, or an error that names what is wrong in it.
func New(cfg Config) (*Screen, error) {
	s := &Screen{name: cfg.Name, budget: cfg.Budget, reserve: cfg.Reserve}
	if s.name == "" {
		s.name = "screen"
	}
	if err := s.setBudget(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if err := s.addParts(cfg.Groups); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s, nil
}

func (s *Screen) setBudget() error {
	if s.budget.D <= 0 || s.budget.D > budgetcaller.MaxLimit {
		return fmt.Errorf("%s: %v is out of range: above 0 and at most %v", "Budget", s.budget.D, budgetcaller.MaxLimit)
	}
	switch s.reserve.D {
	case 0:
		s.reserve = Number{min(DefaultReserve, s.budget.D/10), "the default"}
	case NoReserve:
		s.reserve.D = 0
		if s.reserve.Reason == "" {
			s.reserve.Reason = "none was asked for"
		}
	}
	if s.reserve.D < 0 || s.reserve.D >= s.budget.D {
		return fmt.Errorf("%s: %v is out of range: above 0 and below the budget of %v, or NoReserve", "Reserve", s.reserve.D, s.budget.D)
	}
	return nil
}

func (s *Screen) addParts(groups [][]Part) error {
	names := map[string]bool{"degraded": true, "fallback": true, "stale_ms": true}
	for i, group := range groups {
		if len(group) == 0 {
			return fmt.Errorf("group %d has no parts", i)
		}
		made := make([]part, len(group))
		for j, p := range group {
			switch {
			case p.Name == "":
				return fmt.Errorf("part %d of group %d has no Name", j, i)
			case names[p.Name]:
				return fmt.Errorf("part %d of group %d: Name %q is taken", j, i, p.Name)
			}
			names[p.Name] = true
			var err error
			if made[j], err = newPart(p); err != nil {
				return fmt.Errorf("part %s: %w", p.Name, err)
			}
			made[j].group = i
		}
		s.groups = append(s.groups, made)
	}
	if n := len(names) - 3; n == 0 || n > MaxParts {
		return fmt.Errorf("%d parts: from 1 to %d", n, MaxParts)
	}
	return nil
}

func newPart(p Part) (part, error) {
	if p.Call == nil {
		return part{}, errors.New("no Call")
	}
	if p.Read == nil {
		p.Read = Body
	}
	if f := &p.Fallback; f.Func != nil && f.Old != nil {
		return part{}, errors.New("both Func and Old in Fallback")
	} else if f.Func == nil && f.SetAside.D != 0 {
		return part{}, errors.New("no Func needs Fallback.SetAside")
	}
	for _, f := range []struct {
		name string
		of   Number
	}{
		{"Limit", p.Limit},
		{"Expected", p.Expected},
		{"Floor", p.Floor},
		{"Fallback.SetAside", p.Fallback.SetAside},
		{"Fallback.MaxAge", p.Fallback.MaxAge},
	} {
		if f.of.D < 0 || f.of.D > budgetcaller.MaxLimit {
			return part{}, fmt.Errorf("%s: %v is out of range: from 0 to %v", f.name, f.of.D, budgetcaller.MaxLimit)
		}
	}
	if p.Availability == 0 {
		p.Availability = DefaultAvailability
	}
	if !(p.Availability > 0 && p.Availability <= 1) { // false for NaN, too
		return part{}, fmt.Errorf("%s: %v is out of range: above 0 and at most 1", "Availability", p.Availability)
	}
	made := part{Part: p, limit: p.Limit.D, attempt: budgetcaller.NoLimit}
	if made.limit == 0 {
		made.limit = budgetcaller.NoLimit
	}
	made.setFloor()
	if made.limit < made.floor {
		return part{}, fmt.Errorf("%s: %v is below the floor of %v: it would never be called", "Limit", made.limit, made.floor)
	}
	return made, nil
}

// setFloor fills in what the part's own numbers leave to its dependency.
func (p *part) setFloor() {
	var d budgetcaller.Dependency
	if p.Dependency != nil {
		d = *p.Dependency
		if d.Limits.Attempt > 0 {
			p.attempt = d.Limits.Attempt
		}
	}
	if p.Expected.D == 0 {
		p.Expected.D = max(0, d.Expected)
	}
	p.floor = p.Floor.D
	for _, next := range []time.Duration{p.Expected.D, d.Limits.Floor, budgetcaller.DefaultFloor} {
		if p.floor <= 0 {
			p.floor = next
		}
	}
}

// parts returns all parts in order.
func (s *Screen) parts() []part { return slices.Concat(s.groups...) }
