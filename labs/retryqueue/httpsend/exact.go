package httpsend

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"chaoslab/internal/jsonobject"
)

// CheckJSON returns an error, which names the key, for an object in JSON that
// decoding would change without a word: bytes that are no UTF-8, halves of
// surrogate pairs, a key that stands twice, and in "header" a name that stands
// twice (upper and lower case are alike) or a value that is no string. Other keys
// than those of Request are looked at in the same way: it is meant for the line
// of a job as well as for its payload.
func CheckJSON(object []byte) error {
	seen := map[string]bool{}
	err := jsonobject.EachKey(object, func(key string, value json.RawMessage) error {
		if seen[key] {
			return errors.New("it stands twice")
		}
		seen[key] = true
		if err := exact(value); err != nil {
			return err
		}
		if key == "header" && len(value) > 0 && value[0] == '{' {
			return checkHeaderJSON(value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return exact(object) // the keys themselves
}

func checkHeaderJSON(object []byte) error {
	seen := map[string]string{}
	return jsonobject.EachKey(object, func(name string, value json.RawMessage) error {
		canonical := http.CanonicalHeaderKey(name)
		if first, ok := seen[canonical]; ok {
			if first == name {
				return errors.New("it stands twice")
			}
			return fmt.Errorf("it is the same one as %s: give it once", first)
		}
		seen[canonical] = name
		if len(value) == 0 || value[0] != '"' {
			return errors.New("its value is no string")
		}
		return nil
	})
}

// exact returns an error if the JSON text would not be decoded as it stands.
func exact(text []byte) error {
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == 'u':
			high, pair := escaped(text[i:]), escaped(text[min(i+6, len(text)):])
			switch {
			case high < 0xd800 || high > 0xdfff: // no half of a pair
				i += 6
			case high < 0xdc00 && pair >= 0xdc00 && pair <= 0xdfff:
				i += 12
			default:
				return fmt.Errorf("\\u%04x alone is half a character", high)
			}
		case text[i] == '\\':
			i += 2
		default:
			c, n := utf8.DecodeRune(text[i:])
			if c == utf8.RuneError && n == 1 {
				return fmt.Errorf("the byte 0x%02x is no UTF-8", text[i])
			}
			i += n
		}
	}
	return nil
}

// escaped returns the code of the escape \uXXXX that text begins with, -1 if it
// begins with none.
func escaped(text []byte) int {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}
