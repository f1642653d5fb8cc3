package faults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Spec is one fault with its parameters, checked: everything that can be wrong
// with it was refused by Parse. The zero value is ok. A Spec is immutable.
type Spec struct {
	fault    Fault
	text     string
	args     args
	behavior behavior
	effect   bool // whether the effect takes place
	early    bool // it takes place as soon as the request is whole
	when     When
	span     time.Duration
}

// The parameters that every fault takes.
const (
	paramEffect = "effect"
	paramWhen   = "when"
	paramFor    = "for"
)

// MaxFor is the longest time that an entry of a schedule may last.
const MaxFor = 24 * time.Hour

// Parse reads a fault as it is written on a command line or in a URL:
//
//	slow
//	slow:delay=300ms
//	slow:delay=uniform(100ms,500ms),when=first=3,for=10s
//
// Beside the fault's own parameters each takes effect=yes|no, when=CONDITIONS
// (see ParseWhen) and for=DURATION. Errors name what is allowed.
func Parse(text string) (Spec, error) { return Modes{}.Parse(text) }

// Parse reads a fault of m, as the function Parse does.
func (m Modes) Parse(text string) (Spec, error) { return m.ParseWith(text, nil) }

// ParseWith is Parse with more parameters, by name. One that the text gives too
// is an error, as is one that the fault does not take.
func ParseWith(text string, more map[string]string) (Spec, error) {
	return Modes{}.ParseWith(text, more)
}

// ParseWith reads a fault of m, as the function ParseWith does.
func (m Modes) ParseWith(text string, more map[string]string) (Spec, error) {
	name, rest, _ := strings.Cut(text, ":")
	if name == "" {
		return Spec{}, fmt.Errorf("no mode given: one of %s", strings.Join(m.Names(), ", "))
	}
	f, err := m.Lookup(name)
	if err != nil {
		return Spec{}, err
	}
	if rest == "" && strings.HasSuffix(text, ":") {
		return Spec{}, fmt.Errorf("%s: nothing after the colon: write key=value or leave it out", name)
	}
	pairs, err := splitPairs(rest)
	if err != nil {
		return Spec{}, fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(more)) {
		pairs = append(pairs, pair{key, more[key]})
	}
	return f.spec(pairs)
}

type pair struct{ key, value string }

// splitPairs splits key=value,key=value at the commas outside parentheses.
func splitPairs(text string) ([]pair, error) {
	var pairs []pair
	depth, start := 0, 0
	for i := 0; i <= len(text) && text != ""; i++ {
		if i < len(text) {
			switch text[i] {
			case '"':
				quoted, err := strconv.QuotedPrefix(text[i:])
				if err != nil || i == 0 || text[i-1] != '=' {
					return nil, fmt.Errorf("%q: a quoted value stands whole behind its =", text[start:])
				}
				i += len(quoted) - 1
				continue
			case '(':
				depth++
			case ')':
				depth--
			}
			if text[i] != ',' || depth > 0 {
				continue
			}
		}
		key, value, ok := strings.Cut(strings.TrimSpace(text[start:i]), "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q: write key=value", text[start:i])
		}
		if strings.HasPrefix(value, `"`) {
			var err error
			if value, err = strconv.Unquote(value); err != nil {
				return nil, fmt.Errorf("%q: nothing may stand behind a quoted value", text[start:i])
			}
		}
		pairs = append(pairs, pair{key, value})
		start = i + 1
	}
	return pairs, nil
}

// Takes returns the names of all parameters that f takes, those that every fault
// takes last.
func (f Fault) Takes() []string {
	keys := make([]string, 0, len(f.Params)+3)
	for _, p := range f.Params {
		keys = append(keys, p.Name)
	}
	return append(keys, paramEffect, paramWhen, paramFor)
}

func (f Fault) knows(key string) error {
	for _, k := range f.Takes() {
		if k == key {
			return nil
		}
	}
	return fmt.Errorf("%s: unknown parameter %q: it takes %s", f.Name, key, strings.Join(f.Takes(), ", "))
}

func (f Fault) spec(pairs []pair) (Spec, error) {
	s := Spec{fault: f, effect: f.acts}
	given := map[string]string{}
	for _, p := range pairs {
		if err := f.knows(p.key); err != nil {
			return Spec{}, err
		}
		if _, twice := given[p.key]; twice {
			return Spec{}, fmt.Errorf("%s: %s is given twice", f.Name, p.key)
		}
		given[p.key] = p.value
	}
	a := args{params: f.Params, values: make([]any, len(f.Params))}
	var shown []string
	for i, p := range f.Params {
		text, ok := given[p.Name]
		if !ok {
			text = p.Default
		}
		v, err := p.parse(text)
		if err != nil {
			return Spec{}, fmt.Errorf("%s: %s: %w", f.Name, p.Name, err)
		}
		a.values[i] = v
		if ok {
			if p.Kind == KindText && strings.ContainsAny(text, `,"() `) {
				text = strconv.Quote(text)
			}
			shown = append(shown, p.Name+"="+text)
		}
	}
	var err error
	s.args = a
	if s.behavior, err = f.build(a); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if err := s.common(given); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	for _, k := range []string{paramEffect, paramWhen, paramFor} {
		if v, ok := given[k]; ok {
			shown = append(shown, k+"="+v)
		}
	}
	s.text = f.Name
	if len(shown) > 0 {
		s.text += ":" + strings.Join(shown, ",")
	}
	return s, nil
}

// common reads the parameters that every fault takes.
func (s *Spec) common(given map[string]string) error {
	level := s.behavior.level()
	if v, ok := given[paramEffect]; ok {
		switch {
		case v != "yes" && v != "no":
			return fmt.Errorf("effect: %q is not allowed: yes or no", v)
		case v == "yes" && level != LevelRequest:
			return errors.New("effect: yes is impossible: no request is ever read")
		case v == "yes" && s.behavior.limits:
			return errors.New("effect: yes is impossible: a request over the limit has none")
		}
		s.effect = v == "yes"
		s.early = s.effect && (s.behavior.headless || !s.fault.acts && !s.behavior.answers)
	}
	if v, ok := given[paramWhen]; ok {
		if level == LevelPort {
			return errors.New("when: impossible: a port that answers nobody cannot count; use for=DURATION")
		}
		var err error
		if s.when, err = ParseWhen(v); err != nil {
			return fmt.Errorf("when: %w", err)
		}
	}
	if v, ok := given[paramFor]; ok {
		var err error
		if s.span, err = parseDuration(v, time.Millisecond, MaxFor); err != nil {
			return fmt.Errorf("for: %w", err)
		}
	}
	return nil
}

// Name returns the fault's name.
func (s Spec) Name() string {
	if s.fault.Name == "" {
		return okFault().Name
	}
	return s.fault.Name
}

// String returns the fault with the parameters that were given, as Parse reads
// it.
func (s Spec) String() string {
	if s.text == "" {
		return s.Name()
	}
	return s.text
}

// Level returns where the fault acts with these parameters.
func (s Spec) Level() Level { return s.behavior.level() }

// fresh returns s with a behaviour of its own: one that counts, as rate-limit
// does, must not be shared by two listeners.
func (s Spec) fresh() Spec {
	s = s.whole()
	s.behavior, _ = s.fault.build(s.args) // it was built from them before
	return s
}

// whole returns s, or ok with its defaults for the zero value.
func (s Spec) whole() Spec {
	if s.fault.build != nil {
		return s
	}
	s, _ = Parse(okFault().Name) // its defaults cannot be wrong
	return s
}

// CommonParams describes the parameters that every fault takes beside its own.
func CommonParams() []Param {
	return []Param{
		{Name: paramEffect, Kind: KindWord, Words: []string{"yes", "no"}, Help: "whether the effect takes place, if otherwise than the mode's own way"},
		{Name: paramWhen, Kind: KindWord, Help: "which requests are hit: first=N, every=N, after=N, ratio=R, joined by +"},
		{Name: paramFor, Kind: KindDuration, Min: int64(time.Millisecond), Max: int64(MaxFor), Help: "how long it lasts; then the next in the row takes over"},
	}
}
