package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind says how a parameter's value is written.
type Kind uint8

// The kinds of parameters.
const (
	KindShape    Kind = iota // a duration, or a distribution of durations: see Shape
	KindDuration             // a duration with its unit
	KindInt                  // a whole number
	KindPlace                // accept, request, head, body:N or chunk: see Place
	KindWord                 // one of Param.Words
	KindText                 // printable ASCII, at most maxText bytes
)

// String returns the word that help texts use for the kind.
func (k Kind) String() string {
	switch k {
	case KindShape:
		return "delay"
	case KindDuration:
		return "duration"
	case KindInt:
		return "number"
	case KindPlace:
		return "place"
	case KindText:
		return "text"
	default:
		return "word"
	}
}

// The bounds that hold for all faults.
const (
	// MaxDelay is the longest delay, gap or hang that a fault takes.
	MaxDelay = time.Hour
	// MaxBytes is the largest body that a fault sends.
	MaxBytes = 1 << 30
)

// Param describes one parameter of a fault.
type Param struct {
	Name    string
	Kind    Kind
	Default string // as it would be written; never empty
	// Min and Max bound the value: nanoseconds for KindShape and KindDuration,
	// the number itself for KindInt.
	Min, Max int64
	Words    []string // what KindWord and KindPlace allow
	Help     string   // one line
}

// Range returns the allowed values in words.
func (p Param) Range() string {
	switch p.Kind {
	case KindShape:
		return short(time.Duration(p.Min)) + " to " + short(time.Duration(p.Max)) + ", or " + shapes
	case KindDuration:
		return short(time.Duration(p.Min)) + " to " + short(time.Duration(p.Max))
	case KindInt:
		return fmt.Sprintf("%d to %d", p.Min, p.Max)
	case KindText:
		return "text"
	default:
		return strings.Join(p.Words, ", ")
	}
}

// short writes a duration without the zero units that Duration.String adds.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// parse reads a value of p. Its dynamic type is that of the kind: Shape,
// time.Duration, int64, Place or string.
func (p Param) parse(text string) (any, error) {
	switch p.Kind {
	case KindShape:
		return parseShape(text, time.Duration(p.Min), time.Duration(p.Max))
	case KindDuration:
		return parseDuration(text, time.Duration(p.Min), time.Duration(p.Max))
	case KindInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		if n < p.Min || n > p.Max {
			return nil, fmt.Errorf("%d is out of range: %s", n, p.Range())
		}
		return n, nil
	case KindPlace:
		return parsePlace(text, p.Words)
	case KindText:
		return parseText(text)
	default:
		for _, w := range p.Words {
			if w == text {
				return text, nil
			}
		}
		return nil, fmt.Errorf("%q is not allowed: one of %s", text, p.Range())
	}
}

// maxText bounds a text parameter.
const maxText = 128

// parseText takes what can stand in one header line.
func parseText(text string) (string, error) {
	if len(text) > maxText {
		return "", fmt.Errorf("longer than %d bytes", maxText)
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return "", fmt.Errorf("%q: only printable ASCII is allowed", text)
		}
	}
	return text, nil
}

func parseDuration(text string, low, high time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && overflows(text):
		return 0, fmt.Errorf("%s is too long: at most %s", text, short(high))
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration: write a number with its unit, such as 300ms", text)
	case d < low || d > high:
		return 0, fmt.Errorf("%s is out of range: %s to %s", text, short(low), short(high))
	}
	return d, nil
}

// overflows says whether text, which time.ParseDuration refused, is a duration but
// for its size: with zeros for digits it is one. A zero alone needs no unit, so
// that says nothing.
func overflows(text string) bool {
	zeros := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
	_, err := time.ParseDuration(zeros)
	return err == nil && zeros != "0" && !strings.HasPrefix(zeros, "-")
}

// args are the checked parameters of one fault, as its build function reads
// them. A name that the fault does not list reads as the zero value; the
// conformance test holds that none is read.
type args struct {
	params []Param
	values []any
}

func arg[T any](a args, name string) T {
	var zero T
	for i, p := range a.params {
		if p.Name == name {
			v, ok := a.values[i].(T)
			if !ok {
				return zero
			}
			return v
		}
	}
	return zero
}

func (a args) shape(name string) Shape            { return arg[Shape](a, name) }
func (a args) duration(name string) time.Duration { return arg[time.Duration](a, name) }
func (a args) int(name string) int64              { return arg[int64](a, name) }
func (a args) place(name string) Place            { return arg[Place](a, name) }
func (a args) word(name string) string            { return arg[string](a, name) }
