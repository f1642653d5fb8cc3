package referee

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"chaoslab/faults"
	"chaoslab/labs/sandbox"
)

// prepared is a scenario with everything drawn.
type prepared struct {
	*Scenario
	seed      uint64
	listeners []faults.ListenerConfig
	env       map[string]string
	limit     time.Duration
	drive     []call
	checks    []wanted
	lines     map[string]float64
}

// call is a Drive with everything drawn.
type call struct {
	headers map[string]string
	limit   time.Duration
	times   int
	atOnce  bool
	behind  bool
	path    string
}

// wanted is a check with its parameters.
type wanted struct {
	check Check
	args  args
	look  string
	room  float64 // see Asked; 0: not given
	hides float64 // see Asked; 0: not given
}

// prepare draws what the scenario leaves to chance.
func (l *Lab) prepare(s *Scenario, seed uint64) (*prepared, error) {
	p := &prepared{Scenario: s, seed: seed, env: map[string]string{}, lines: map[string]float64{}, limit: defaultLimit}
	v := values{}
	if err := v.draw(chance(seed, s.Name), l.Draw, s.Draw); err != nil {
		return nil, err
	}
	if s.LimitMS > 0 {
		p.limit = time.Duration(s.LimitMS) * time.Millisecond
	}
	if p.limit > maxLimit || s.Hops > maxHops {
		return nil, fmt.Errorf("limit %v, %d hops: at most %v and %d", p.limit, s.Hops, maxLimit, maxHops)
	}
	if s.SynRetries != 0 && (s.SynRetries < sandbox.MinSynRetries || s.SynRetries > sandbox.MaxSynRetries || s.Hops > 0) {
		return nil, fmt.Errorf("syn_retries %d: %d to %d, and without hops", s.SynRetries, sandbox.MinSynRetries, sandbox.MaxSynRetries)
	}
	for _, env := range []map[string]string{l.Env, s.Env} {
		for name, value := range env {
			text, err := v.text(value)
			if err != nil {
				return nil, fmt.Errorf("env %s: %w", name, err)
			}
			p.env[name] = text
		}
	}
	for name, value := range s.Lines {
		var err error
		if p.lines[name], err = v.number(value); err != nil {
			return nil, fmt.Errorf("line %s: %w", name, err)
		}
	}
	return p, errors.Join(p.addListeners(v), p.addDrive(v), p.addChecks(v))
}

func (p *prepared) addListeners(v values) error {
	if len(p.Partners) == 0 {
		return errors.New("no partners")
	}
	for _, l := range p.Partners {
		lc := faults.ListenerConfig{Name: l.Name}
		texts := make([]string, len(l.Faults))
		for i, f := range l.Faults {
			var err error
			if texts[i], err = v.text(f); err != nil {
				return fmt.Errorf("partner %s: %w", l.Name, err)
			}
		}
		var err error
		if lc.Faults, err = parseFaults(texts); err != nil {
			return fmt.Errorf("partner %s: %w", l.Name, err)
		}
		p.listeners = append(p.listeners, lc)
	}
	return nil
}

func (p *prepared) addDrive(v values) error {
	for _, d := range p.Drive {
		c := call{headers: map[string]string{}, limit: defaultLimit, times: 1, atOnce: d.AtOnce || d.Behind, behind: d.Behind, path: d.Path}
		for name, value := range d.Headers {
			var err error
			if c.headers[name], err = v.text(value); err != nil {
				return err
			}
		}
		if d.LimitMS != "" {
			ms, err := v.number(d.LimitMS)
			if err != nil {
				return err
			}
			c.limit = time.Duration(ms) * time.Millisecond
		}
		if d.Times != "" {
			n, err := v.number(d.Times)
			if err != nil {
				return err
			}
			c.times = int(n)
		}
		p.drive = append(p.drive, c)
	}
	return nil
}

func (p *prepared) addChecks(v values) error {
	if len(p.Checks) == 0 {
		return errors.New("no checks")
	}
	for _, asked := range p.Checks {
		w, err := v.want(maps.Clone(asked))
		if err != nil {
			return fmt.Errorf("check %s: %w", asked["check"], err)
		}
		p.checks = append(p.checks, w)
	}
	return nil
}

func (v values) want(asked Asked) (wanted, error) {
	c, err := lookup(asked["check"])
	if err != nil {
		return wanted{}, err
	}
	w := wanted{check: c, look: asked["look"], args: args{}}
	if w.look, err = v.text(w.look); err != nil {
		return wanted{}, err
	}
	w.check.Hard = w.check.Hard || asked["hard"] == "yes"
	if text := asked["room"]; text != "" {
		if w.room, err = strconv.ParseFloat(text, 64); err != nil || w.check.Timed {
			return wanted{}, fmt.Errorf("room %q: milliseconds, and not for a check of times", text)
		}
	}
	if text := asked["hides"]; text != "" {
		if w.hides, err = strconv.ParseFloat(text, 64); err != nil || w.check.Hard {
			return wanted{}, fmt.Errorf("hides %q: milliseconds, and not for a check that is hard", text)
		}
	}
	delete(asked, "room")
	delete(asked, "hides")
	delete(asked, "check")
	delete(asked, "look")
	delete(asked, "hard")
	for name, value := range asked {
		p, known := c.param(name)
		if !known {
			return wanted{}, fmt.Errorf("it takes no %q", name)
		}
		text, err := v.text(value)
		if err != nil {
			return wanted{}, err
		}
		if p.Number {
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				return wanted{}, fmt.Errorf("%s: %q is no number", name, text)
			}
		}
		w.args[name] = text
	}
	return w, nil
}
