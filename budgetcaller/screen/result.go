package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"chaoslab/budgetcaller"
)

// Result is how a screen went.
type Result struct {
	Screen  string
	Budget  time.Duration // in force: the context's deadline may have been earlier
	Reserve time.Duration // of it, kept from the parts
	Began   time.Time
	Elapsed time.Duration // until the last part was over
	Left    time.Duration // of the budget then, the reserve included
	// Parts are in the order of Config.Groups.
	Parts []Outcome
	// Degraded names the optional parts that are missing, in order. It is empty,
	// not nil, if none is.
	Degraded []string
	// Err is why there is no answer, nil if there is one.
	Err *Error
}

// Error is the failure of a screen: the first required part that has no value,
// or a cancel.
type Error struct {
	Screen string
	Part   string // empty for a cancel
	Class  budgetcaller.Class
	Effect budgetcaller.Effect // the worst of all parts'
	Status int                 // of the part's last answer, 0 if there was none
	Err    error               // the part's own failure, the cause of the cancel
}

// Error returns one line: screen, part, and the part's own line.
func (e *Error) Error() string {
	if e.Part == "" {
		return fmt.Sprintf("%s: canceled: %v", e.Screen, e.Err)
	}
	return fmt.Sprintf("%s: required part failed: %v", e.Screen, e.Err)
}

// Unwrap returns the part's own failure.
func (e *Error) Unwrap() error { return e.Err }

// Part returns how the part of that name went, nil if there is none.
func (r *Result) Part(name string) *Outcome {
	for i := range r.Parts {
		if r.Parts[i].Name == name {
			return &r.Parts[i]
		}
	}
	return nil
}

// Lines returns the account of all parts, in their order.
func (r *Result) Lines() []Line {
	var lines []Line
	for i := range r.Parts {
		lines = append(lines, r.Parts[i].Lines...)
	}
	return lines
}

// Effect returns the worst effect of all parts.
func (r *Result) Effect() budgetcaller.Effect {
	worst := budgetcaller.EffectNone
	for i := range r.Parts {
		worst = max(worst, r.Parts[i].Effect)
	}
	return worst
}

// MarshalJSON returns the answer: an object with the value of each part under
// its name, null if it is missing, and "degraded", which names the missing ones.
// Where there are any, "fallback" names the parts that a Fallback's Func stood
// in for, and "stale_ms" tells the age of those that got an old value, in
// milliseconds.
//
// A screen that failed has no answer: it is then an object with "error",
// "part", "class" and "effect", without the text of the network's own errors,
// which is not for everybody.
func (r *Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	o := object{to: &b}
	if r.Err != nil {
		o.add("error", r.Err.public())
		if r.Err.Part != "" {
			o.add("part", r.Err.Part)
		}
		o.add("class", r.Err.Class)
		o.add("effect", r.Err.Effect)
		return o.end()
	}
	fallback, stale := []string{}, object{to: &bytes.Buffer{}}
	for i := range r.Parts {
		p := &r.Parts[i]
		o.add(p.Name, p.Value)
		switch p.Source {
		case SourceFallback:
			fallback = append(fallback, p.Name)
		case SourceOld:
			stale.add(p.Name, p.Age.Milliseconds())
		}
	}
	o.add("degraded", append([]string{}, r.Degraded...))
	if len(fallback) > 0 {
		o.add("fallback", fallback)
	}
	if stale.n > 0 {
		ages, err := stale.end()
		if err != nil {
			return nil, err
		}
		o.add("stale_ms", json.RawMessage(ages))
	}
	return o.end()
}

// public is the failure without what only the service's own people should see.
func (e *Error) public() string {
	if e.Part == "" {
		return "canceled"
	}
	what := e.Class.String()
	switch e.Class {
	case budgetcaller.ClassNone:
		what = "error"
	case budgetcaller.ClassStatus:
		what = fmt.Sprintf("status %d", e.Status)
	}
	return fmt.Sprintf("required part %s failed: %s", e.Part, what)
}

// object writes a JSON object with its keys in the order in which they come.
type object struct {
	to  *bytes.Buffer
	n   int
	err error
}

func (o *object) add(key string, value any) {
	if o.err != nil {
		return
	}
	mark := byte(',')
	if o.n == 0 {
		mark = '{'
	}
	o.to.WriteByte(mark)
	o.n++
	o.write(key)
	o.to.WriteByte(':')
	o.write(value)
	if o.err != nil {
		o.err = fmt.Errorf("%s: %w", key, o.err)
	}
}

func (o *object) write(v any) {
	e := json.NewEncoder(o.to)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		o.err = err
		return
	}
	o.to.Truncate(o.to.Len() - 1) // Encode ends a line
}

func (o *object) end() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	if o.n == 0 {
		o.to.WriteByte('{')
	}
	o.to.WriteByte('}')
	return o.to.Bytes(), nil
}
