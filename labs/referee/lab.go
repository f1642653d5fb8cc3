package referee

import (
	"bytes"
	"fmt"
	"io/fs"
	"time"

	"github.com/goccy/go-yaml"

	"chaoslab/faults"
)

// Lab is one exercise, as its lab.yaml says it.
type Lab struct {
	Number   int    `yaml:"number"`
	Name     string `yaml:"name"` // lower case, words joined by dashes
	Title    string `yaml:"title"`
	Minutes  int    `yaml:"minutes"`   // that it takes
	BuildsOn []int  `yaml:"builds_on"` // exercises to do before
	// Draw is drawn anew for each scenario: see draws.
	Draw []string `yaml:"draw"`
	// Env is given to the program in every scenario.
	Env map[string]string `yaml:"env"`
	// Predict are the figures that the student writes down before measuring.
	Predict   []Question `yaml:"predict"`
	Hints     []string   `yaml:"hints"` // from vague to plain
	Scenarios []Scenario `yaml:"scenarios"`
	// Wrong are plausible programs that must fail: the solution, changed.
	Wrong []Wrong `yaml:"wrong"`

	// Files are the exercise's folder.
	Files fs.FS `yaml:"-"`
}

// Question asks for one figure.
type Question struct {
	Key  string  `yaml:"key"`
	Ask  string  `yaml:"ask"`
	From float64 `yaml:"from"`
	To   float64 `yaml:"to"`
	Look string  `yaml:"look"`
}

// Scenario is one run of the program.
type Scenario struct {
	Name     string            `yaml:"name"`
	Tells    string            `yaml:"tells"` // what happens in it, one line
	Draw     []string          `yaml:"draw"`  // beside the exercise's
	Partners []Listener        `yaml:"partners"`
	Env      map[string]string `yaml:"env"`
	// LimitMS is how long the program may run, in milliseconds. 0: 10 s.
	LimitMS int `yaml:"limit_ms"`
	// SettleMS is how long the partners are watched after the program has ended.
	SettleMS int `yaml:"settle_ms"`
	// Hops is how many instances of the program run as servers, each calling the
	// next and the last the first partner, instead of one that runs to its end.
	Hops int `yaml:"hops"`
	// Drive are the calls made to the first hop, one after the other.
	Drive []Drive `yaml:"drive"`
	// SynRetries runs the program in a private network where LAB_URL is a real black
	// hole, and the kernel gives up connecting once it has sent a SYN again so often.
	// 0: on loopback. Where there is no such network the scenario is left out.
	SynRetries int `yaml:"syn_retries"`
	// KillAfter kills the program as soon as a partner has seen so many requests
	// and starts it again, once for each.
	KillAfter []int   `yaml:"kill_after"`
	Checks    []Asked `yaml:"checks"`
	// Lines are marks for the picture: name and milliseconds from the first
	// contact.
	Lines map[string]string `yaml:"lines"`
}

// Listener is one partner of a scenario. The first one's URL is LAB_URL, and each
// has its own as LAB_URL_NAME.
type Listener struct {
	Name   string   `yaml:"name"`
	Faults []string `yaml:"faults"` // as faults.Parse reads them; in the end ok
}

// Drive is one call that the referee makes to the program.
type Drive struct {
	Headers map[string]string `yaml:"headers"`
	LimitMS string            `yaml:"limit_ms"` // when the referee gives up; empty: 10 s
	Times   string            `yaml:"times"`    // how often; empty: once
	AtOnce  bool              `yaml:"at_once"`  // all of them at the same time
	// Behind leaves them running while the next calls are made, which begin
	// a moment later.
	Behind bool   `yaml:"behind"`
	Path   string `yaml:"path"`
}

// Asked is one check that a scenario wants: its name under "check", its
// parameters, under "look" which thing to look at if it fails, and "hard: yes"
// where its bounds are so wide that no busy machine makes a right program fail.
// "room" is how many milliseconds a right program may be held up without failing a
// check that is not of times: less noise than that excuses nobody. "hides" is how
// many milliseconds of noise make a wrong program pass: a pass with so much is none.
type Asked map[string]string

// Wrong is a plausible program that must fail: the solution in Lang with each
// text of From replaced by that of To.
type Wrong struct {
	Name string   `yaml:"name"` // what it does wrong
	Lang string   `yaml:"lang"` // empty: python
	From []string `yaml:"from"`
	To   []string `yaml:"to"`
	// Fails is the scenario and the check, "SCENARIO CHECK", that must be its
	// first failure.
	Fails string `yaml:"fails"`
}

// Bounds of an exercise.
const (
	defaultLimit = 10 * time.Second
	maxLimit     = time.Minute
	maxHops      = 4
)

// Load reads the exercise in a folder and checks all of it.
func Load(files fs.FS) (*Lab, error) {
	text, err := fs.ReadFile(files, "lab.yaml")
	if err != nil {
		return nil, err
	}
	lab := &Lab{Files: files}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(lab); err != nil {
		return nil, fmt.Errorf("lab.yaml: %w", err)
	}
	if err := lab.check(); err != nil {
		return nil, fmt.Errorf("lab.yaml: %w", err)
	}
	return lab, nil
}

// Folder returns the name of the exercise's folder.
func (l *Lab) Folder() string { return fmt.Sprintf("%02d-%s", l.Number, l.Name) }

func (l *Lab) check() error {
	switch {
	case l.Number < 1 || l.Number > 99:
		return fmt.Errorf("number %d: 1 to 99", l.Number)
	case l.Name == "" || l.Title == "" || l.Minutes < 1:
		return fmt.Errorf("name %q, title %q, minutes %d: all three are needed", l.Name, l.Title, l.Minutes)
	case len(l.Hints) != 3:
		return fmt.Errorf("%d hints: three, from vague to plain", len(l.Hints))
	}
	for i := range l.Scenarios {
		// Every end of every range must make a scenario that can be run.
		for seed := range uint64(8) {
			if _, err := l.prepare(&l.Scenarios[i], seed); err != nil {
				return fmt.Errorf("scenario %s: %w", l.Scenarios[i].Name, err)
			}
		}
	}
	for _, w := range l.Wrong {
		if len(w.From) == 0 || len(w.From) != len(w.To) {
			return fmt.Errorf("wrong %s: %d texts to replace and %d to put there", w.Name, len(w.From), len(w.To))
		}
	}
	return nil
}

// Scenario returns the scenario of that name, or an error with all names.
func (l *Lab) Scenario(name string) (*Scenario, error) {
	var names string
	for i := range l.Scenarios {
		if l.Scenarios[i].Name == name {
			return &l.Scenarios[i], nil
		}
		names += " " + l.Scenarios[i].Name
	}
	return nil, fmt.Errorf("exercise %d has no scenario %q: one of%s", l.Number, name, names)
}

// parseFaults reads a listener's faults.
func parseFaults(texts []string) ([]faults.Spec, error) {
	specs := make([]faults.Spec, 0, len(texts))
	for _, text := range texts {
		s, err := faults.Parse(text)
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	return specs, nil
}
