package jsonobject_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"chaoslab/internal/jsonobject"
)

func TestEachKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, keys, err string }{
		{"empty", `{}`, "", ""},
		{"in order, twice too", `{"b":1,"a":[{"c":2}],"b":null}`, "b=1 a=[{\"c\":2}] b=null", ""},
		{"no object", `[1]`, "", "no JSON object"},
		{"nothing", ``, "", "no JSON object"},
		{"cut in a value", `{"a":[1`, "", "a: no JSON: unexpected EOF"},
		{"cut after a value", `{"a":1`, "a=1", "no JSON: the object does not end"},
		{"more behind it", `{"a":1} 2`, "a=1", "something stands behind the object"},
		{"refused by f", `{"a":1,"stop":2,"b":3}`, "a=1", "stop: enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var keys []string
			err := jsonobject.EachKey([]byte(c.text), func(key string, value json.RawMessage) error {
				if key == "stop" {
					return errors.New("enough")
				}
				keys = append(keys, key+"="+string(value))
				return nil
			})
			if got := strings.Join(keys, " "); got != c.keys {
				t.Errorf("%s: got keys %s, want %s", c.text, got, c.keys)
			}
			if got := errText(err); got != c.err {
				t.Errorf("%s: got error %q, want %q", c.text, got, c.err)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
