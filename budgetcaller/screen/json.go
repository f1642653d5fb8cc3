package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"chaoslab/budgetcaller"
)

// MarshalJSON returns the answer: an object with the value of each part under
// its name, null if it is missing, and "degraded", which names the missing ones.
// Where there are any, "fallback" names the parts that a Fallback's Func stood
// in for, and "stale_ms" tells the age of those that got an old value, in
// milliseconds.
//
// An optional part with a value that JSON does not have is missing, as one that
// failed: Respond says which, and why. A required part with such a value is an
// error.
//
// A screen that failed has no answer: it is then an object with "error",
// "part", "class" and "effect", without the text of the network's own errors,
// which is not for everybody.
func (r *Result) MarshalJSON() ([]byte, error) {
	body, _, err := r.answer()
	return body, err
}

// answer is MarshalJSON, and what was wrong with the values of optional parts.
func (r *Result) answer() (body []byte, without, err error) {
	o := object{to: &bytes.Buffer{}}
	if r.Err != nil {
		o.add("error", r.Err.public())
		if r.Err.Part != "" {
			o.add("part", r.Err.Part)
		}
		o.add("class", r.Err.Class)
		o.add("effect", r.Err.Effect)
		body, err = o.end()
		return body, nil, err
	}
	degraded, fallback, stale := []string{}, []string{}, object{to: &bytes.Buffer{}}
	var wrong []error
	for i := range r.Parts {
		p := &r.Parts[i]
		value, err := encode(p.Value)
		if err != nil {
			err = fmt.Errorf("%s: %w", p.Name, err)
			if p.Required {
				return nil, nil, err
			}
			wrong = append(wrong, err)
			value = []byte("null")
		}
		o.add(p.Name, json.RawMessage(value))
		switch {
		case err != nil || slices.Contains(r.Degraded, p.Name):
			degraded = append(degraded, p.Name)
		case p.Source == SourceFallback:
			fallback = append(fallback, p.Name)
		case p.Source == SourceOld:
			stale.add(p.Name, p.Age.Milliseconds())
		}
	}
	o.add("degraded", degraded)
	if len(fallback) > 0 {
		o.add("fallback", fallback)
	}
	if stale.n > 0 {
		ages, err := stale.end()
		if err != nil {
			return nil, nil, err
		}
		o.add("stale_ms", json.RawMessage(ages))
	}
	body, err = o.end()
	return body, errors.Join(wrong...), err
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

// encode returns v as JSON. A value's own method may panic: that is a value that
// JSON does not have.
func encode(v any) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = nil, fmt.Errorf("its MarshalJSON panics: %v", p)
		}
	}()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil // Encode ends a line
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
	text, err := encode(v)
	if err != nil {
		o.err = err
		return
	}
	o.to.Write(text)
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
