package layers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// maxText bounds a name or reason, in bytes.
const maxText = 1000

// reader reads values from the tree of a YAML file. Every error is one line
// that names file, line and key.
type reader struct{ file string }

// mapping is a mapping whose keys are all known.
type mapping struct {
	reader
	key    string // of the mapping itself
	line   int
	values map[string]ast.Node
	lines  map[string]int
}

func (r reader) wrong(line int, key, format string, args ...any) error {
	if key != "" {
		key += ": "
	}
	return fmt.Errorf("%s:%d: %s%w", r.file, line, key, fmt.Errorf(format, args...))
}

func lineOf(node ast.Node) int {
	if node != nil {
		if t := node.GetToken(); t != nil && t.Position != nil {
			return t.Position.Line
		}
	}
	return 0
}

// mapping returns what node maps, if it is a mapping with only such keys.
func (r reader) mapping(key string, node ast.Node, allowed ...string) (mapping, error) {
	m := mapping{reader: r, key: key, line: lineOf(node), values: map[string]ast.Node{}, lines: map[string]int{}}
	from, ok := node.(ast.MapNode)
	if _, alias := node.(*ast.AliasNode); !ok || alias {
		return m, r.wrong(m.line, key, "%s, want a mapping of %s", kind(node), strings.Join(allowed, ", "))
	}
	for i := from.MapRange(); i.Next(); {
		name, ok := i.Key().(*ast.StringNode)
		line := lineOf(i.Key())
		if m.line == 0 || line < m.line {
			m.line = line
		}
		if !ok {
			return m, r.wrong(line, key, "unknown key %q: one of %s", i.Key().String(), strings.Join(allowed, ", "))
		}
		if !slices.Contains(allowed, name.Value) {
			return m, r.wrong(line, key, "unknown key %q: one of %s", name.Value, strings.Join(allowed, ", "))
		}
		if first, twice := m.lines[name.Value]; twice {
			return m, r.wrong(line, key, "%s is there twice, first on line %d", name.Value, first)
		}
		m.values[name.Value], m.lines[name.Value] = i.Value(), line
	}
	return m, nil
}

// kind says what a node is, for an error.
func kind(node ast.Node) string {
	switch node.(type) {
	case nil, *ast.NullNode:
		return "empty"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a mapping"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return "an anchor, alias or tag"
	}
	return "a single value"
}

// path is the full name of a key in m.
func (m mapping) path(key string) string {
	if m.key == "" {
		return key
	}
	return m.key + "." + key
}

// lineOf is the line of a key, or of m where the key is not there.
func (m mapping) lineOf(key string) int {
	if line := m.lines[key]; line > 0 {
		return line
	}
	return m.line
}

func (m mapping) wrong(key, format string, args ...any) error {
	return m.reader.wrong(m.lineOf(key), m.path(key), format, args...)
}

// text returns a single value as it is written, empty if it is not there.
func (m mapping) text(key string, required bool) (string, error) {
	node, there := m.values[key]
	if !there {
		if required {
			return "", m.wrong(key, "it is missing")
		}
		return "", nil
	}
	text := ""
	switch n := node.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = n.GetToken().Value
	default:
		return "", m.wrong(key, "%s, want a single value", kind(node))
	}
	text = strings.Join(strings.Fields(text), " ") // it will stand in one line
	switch {
	case text == "":
		return "", m.wrong(key, "empty")
	case len(text) > maxText:
		return "", m.wrong(key, "longer than %d bytes", maxText)
	case strings.ContainsFunc(text, func(c rune) bool { return !strconv.IsPrint(c) }):
		return "", m.wrong(key, "a character that cannot be printed")
	}
	return text, nil
}

// choice returns one of words, the first if the key is not there.
func (m mapping) choice(key string, words ...string) (string, error) {
	word, err := m.text(key, false)
	if err != nil || word == "" {
		return words[0], err
	}
	if !slices.Contains(words, word) {
		return "", m.wrong(key, "%q is none of %s", word, strings.Join(words, ", "))
	}
	return word, nil
}

// sequence returns the entries of a list that must be there.
func (m mapping) sequence(key string, most int) ([]ast.Node, error) {
	node, there := m.values[key]
	if !there {
		return nil, m.wrong(key, "it is missing")
	}
	list, ok := node.(*ast.SequenceNode)
	switch {
	case !ok:
		return nil, m.wrong(key, "%s, want a list", kind(node))
	case len(list.Values) == 0 || len(list.Values) > most:
		return nil, m.wrong(key, "%d entries: from 1 to %d", len(list.Values), most)
	}
	return list.Values, nil
}

// number returns a value and its reason: written as a mapping of both, or the
// value alone. The mapping returned is where the value stands, under valueKey.
func (m mapping) number(key string) (in mapping, valueKey, reason string, err error) {
	if _, ok := m.values[key].(ast.MapNode); !ok {
		return m, key, "", nil
	}
	if in, err = m.mapping(m.path(key), m.values[key], "value", "reason"); err != nil {
		return m, "", "", err
	}
	reason, err = in.text("reason", false)
	return in, "value", reason, err
}

// length returns a length of time and its reason, zero if it is not there.
func (m mapping) length(key string, required bool) (Length, error) {
	if _, there := m.values[key]; !there && !required {
		return Length{}, nil
	}
	in, valueKey, reason, err := m.number(key)
	if err != nil {
		return Length{}, err
	}
	d, err := in.duration(valueKey)
	return Length{d, reason}, err
}

// duration reads what time.ParseDuration does, above 0 and at most MaxLimit.
func (m mapping) duration(key string) (time.Duration, error) {
	text, err := m.text(key, true)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if _, bare := strconv.ParseFloat(text, 64); err != nil && bare == nil || text == "0" {
		return 0, m.wrong(key, "%q has no unit: write a number with its unit, such as 300ms or 3s", text)
	}
	switch {
	case err != nil:
		return 0, m.wrong(key, "%q is not a duration up to %v: write a number with its unit, such as 300ms or 3s", text, MaxLimit)
	case d <= 0 || d > MaxLimit:
		return 0, m.wrong(key, "%q is out of range: above 0 and at most %v", text, MaxLimit)
	}
	return d, nil
}

// count returns a whole number and its reason, zero if it is not there.
func (m mapping) count(key string, least, most int) (Count, error) {
	if _, there := m.values[key]; !there {
		return Count{}, nil
	}
	in, valueKey, reason, err := m.number(key)
	if err != nil {
		return Count{}, err
	}
	text, err := in.text(valueKey, true)
	if err != nil {
		return Count{}, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return Count{}, in.wrong(valueKey, "%q is not a whole number from %d to %d", text, least, most)
	}
	return Count{n, reason}, nil
}

// backoff returns a backoff, nil if it is not there.
func (m mapping) backoff(key string) (*Backoff, error) {
	node, there := m.values[key]
	if !there {
		return nil, nil
	}
	in, err := m.mapping(m.path(key), node, "base", "cap", "reason")
	if err != nil {
		return nil, err
	}
	b := &Backoff{}
	if b.Base, err = in.duration("base"); err != nil {
		return nil, err
	}
	if b.Cap, err = in.duration("cap"); err != nil {
		return nil, err
	}
	b.Reason, err = in.text("reason", false)
	return b, err
}
