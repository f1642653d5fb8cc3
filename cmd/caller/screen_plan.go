package main

import (
	"encoding/json"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/strictyaml"
)

// The bounds on a plan. A screen is what somebody waits for.
const (
	maxScreenBudget = 10 * time.Minute
	maxScreenParts  = 64
	maxScreenTries  = 100
)

// screenPlan is what a plan file says.
type screenPlan struct {
	name    string
	budget  screen.Number
	reserve screen.Number
	groups  [][]planPart
	numbers []planNumber // all that are given, in order
}

// planPart is one part of a plan.
type planPart struct {
	name       string
	optional   bool
	url        string // may lack its scheme and host
	at         strictyaml.Node
	request    request
	dependency budgetcaller.Dependency
	limit      screen.Number
	expected   screen.Number
	floor      screen.Number
	share      float64 // availability; 0: the default
	fallback   planFallback
}

// planFallback is what stands in for a part; url or value is set, or neither.
type planFallback struct {
	url      string
	setAside screen.Number
	value    json.RawMessage
	age      time.Duration
	maxAge   screen.Number
}

// planNumber is one number of a plan as it is listed.
type planNumber struct {
	Part   string `json:"part"` // empty for the whole screen's
	Name   string `json:"name"`
	Value  string `json:"value"`
	Reason string `json:"reason"` // empty if none is given
}

// readScreenPlan reads a plan file. Its errors name the file, the line, the key
// and what is allowed.
func readScreenPlan(path string) (*screenPlan, error) {
	root, err := strictyaml.Read(path)
	if err != nil {
		return nil, err
	}
	return parseScreenPlan(root)
}

func parseScreenPlan(root strictyaml.Node) (*screenPlan, error) {
	p := &screenPlan{name: "screen"}
	var parts *strictyaml.Node
	err := root.Mapping("the plan",
		strictyaml.Key{Name: "screen", Read: func(n strictyaml.Node) error { return n.Text("screen", &p.name) }},
		strictyaml.Key{Name: "budget", Read: func(n strictyaml.Node) error { return p.number(n, "budget", &p.budget) }},
		strictyaml.Key{Name: "reserve", Read: func(n strictyaml.Node) error { return p.reserveOf(n) }},
		strictyaml.Key{Name: "parts", Read: func(n strictyaml.Node) error { parts = &n; return nil }},
	)
	switch {
	case err != nil:
		return nil, err
	case p.budget.D == 0:
		return nil, root.Errorf("budget is missing: write how long the screen may take, such as budget: 2s")
	case parts == nil:
		return nil, root.Errorf("parts is missing: write at least one, such as - {name: price, url: http://127.0.0.1:8080/}")
	case p.reserve.D >= p.budget.D:
		return nil, root.Errorf("reserve %v leaves nothing of the budget of %v", p.reserve.D, p.budget.D)
	}
	if err := p.parts(*parts); err != nil {
		return nil, err
	}
	return p, nil
}

// reasoned returns the value in n and its reason: n is the value itself or
// {value: 2s, reason: why}.
func reasoned(n strictyaml.Node, what string) (value strictyaml.Node, reason string, err error) {
	if !n.IsMapping() {
		return n, "", nil
	}
	given := false
	err = n.Mapping(what,
		strictyaml.Key{Name: "value", Read: func(v strictyaml.Node) error { value, given = v, true; return nil }},
		strictyaml.Key{Name: "reason", Read: func(v strictyaml.Node) error { return v.Text("reason", &reason) }},
	)
	if err == nil && !given {
		err = n.Errorf("%s has no value: write %s: {value: ..., reason: ...}", what, what)
	}
	return value, reason, err
}

// number reads a duration, with or without its reason.
func (p *screenPlan) number(n strictyaml.Node, what string, to *screen.Number) error {
	value, reason, err := reasoned(n, what)
	if err != nil {
		return err
	}
	var d time.Duration
	if err := value.Duration(what, &d); err != nil {
		return err
	}
	if d > maxScreenBudget {
		return value.Errorf("%s: %v is too long: at most %v", what, d, maxScreenBudget)
	}
	*to = screen.For(d, reason)
	p.note(what, d.String(), reason)
	return nil
}

// note lists a number; which part it belongs to is filled in by part.
func (p *screenPlan) note(name, value, reason string) {
	p.numbers = append(p.numbers, planNumber{Name: name, Value: value, Reason: reason})
}

// reserveOf reads the reserve, which may be none.
func (p *screenPlan) reserveOf(n strictyaml.Node) error {
	var word string
	if !n.IsMapping() && n.Word("reserve", &word, "none") == nil {
		p.reserve = screen.For(screen.NoReserve, "none was asked for")
		return nil
	}
	return p.number(n, "reserve", &p.reserve)
}

// parts reads the parts: each is one, or several together.
func (p *screenPlan) parts(n strictyaml.Node) error {
	entries, err := n.List("parts", maxScreenParts)
	if err != nil {
		return err
	}
	names, count := map[string]bool{"degraded": true, "fallback": true, "stale_ms": true}, 0
	for _, entry := range entries {
		group := []strictyaml.Node{entry}
		if entry.Has("together") {
			err := entry.Mapping("parts that are called together", strictyaml.Key{Name: "together", Read: func(n strictyaml.Node) (err error) {
				group, err = n.List("together", maxScreenParts)
				return err
			}})
			if err != nil {
				return err
			}
		}
		made := make([]planPart, len(group))
		for i, n := range group {
			if err := p.part(n, &made[i]); err != nil {
				return err
			}
			if name := made[i].name; names[name] {
				return n.Errorf("the name %s is taken", name)
			}
			names[made[i].name] = true
		}
		p.groups = append(p.groups, made)
		if count += len(made); count > maxScreenParts {
			return entry.Errorf("more than %d parts", maxScreenParts)
		}
	}
	return nil
}
