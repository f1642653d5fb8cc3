package jsonobject

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// EachKey calls f for each key of the one JSON object in text, with its value. An
// error of f ends it and is returned with the key before it; so does text that is
// not one whole object and nothing else.
func EachKey(text []byte, f func(string, json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("no JSON object")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("no JSON: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("%v: no JSON: %w", t, err)
		}
		key, _ := t.(string) // within an object it is one
		if err := f(key, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("no JSON: the object does not end")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the object")
	}
	return nil
}
