package referee

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Said is what the program says happened: the last line of its output that is
// not empty. A JSON object is read as its fields; anything else is one word.
type Said struct {
	Text   string         `json:"text"`
	Fields map[string]any `json:"fields,omitempty"`
}

// maxSaid bounds the line that is read.
const maxSaid = 64 << 10

// say reads a line.
func say(line string) Said {
	s := Said{Text: strings.TrimSpace(line)}
	if len(s.Text) > maxSaid {
		s.Text = s.Text[:maxSaid]
	}
	if strings.HasPrefix(s.Text, "{") {
		var fields map[string]any
		if json.Unmarshal([]byte(s.Text), &fields) == nil {
			s.Fields = fields
		}
	}
	return s
}

// Word returns the field of that name as text, or the whole line for an empty
// name. A bare word answers for any field.
func (s Said) Word(field string) (string, bool) {
	if s.Fields == nil {
		return strings.ToLower(s.Text), s.Text != ""
	}
	if field == "" {
		field = "class"
	}
	var value any = s.Fields
	for key := range strings.SplitSeq(field, ".") {
		m, ok := value.(map[string]any)
		if !ok {
			return "", false
		}
		if value, ok = m[key]; !ok {
			return "", false
		}
	}
	return show(value), true
}

// Number returns the field of that name as a number. A boolean is none, and
// neither is what is not finite.
func (s Said) Number(field string) (float64, bool) {
	text, ok := s.Word(field)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

func show(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return strings.ToLower(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
