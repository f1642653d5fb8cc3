package strictyaml

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The bounds on a file. A person writes it, so both are far off.
const (
	MaxSize  = 64 << 10 // bytes
	maxDepth = 32       // of what is opened within one line
)

// Node is a value in a file.
type Node struct {
	file string
	node ast.Node
}

// Read returns the one document in the file of that name.
func Read(path string) (Node, error) {
	f, err := os.Open(path)
	if err != nil {
		return Node{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return Node{}, err
	}
	return Parse(path, text)
}

// byteOrderMark may stand at the beginning of a file: YAML 1.2, 5.2.
const byteOrderMark = "\ufeff"

// Parse is Read for a text; file is what errors call it.
func Parse(file string, text []byte) (Node, error) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return Node{}, fmt.Errorf("%s:1: this is UTF-16: only UTF-8 is read", file)
	}
	if len(text) > MaxSize {
		return Node{}, fmt.Errorf("%s: longer than %d KiB", file, MaxSize>>10)
	}
	if line := tooDeep(text); line > 0 {
		return Node{}, fmt.Errorf("%s:%d: more than %d values inside each other", file, line, maxDepth)
	}
	parsed, err := parse(text)
	if err != nil {
		return Node{}, syntax(file, err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return Node{}, fmt.Errorf("%s:1: not one YAML document but %d", file, bodies(parsed))
	}
	return Node{file, parsed.Docs[0].Body}, nil
}

// parse keeps a panic of the parser, which reads text from outside, from being
// ours.
func parse(text []byte) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("[1:1] the parser gave up: %v", p)
		}
	}()
	return parser.ParseBytes(text, 0)
}

func bodies(f *ast.File) int {
	n := 0
	for _, d := range f.Docs {
		if d.Body != nil {
			n++
		}
	}
	return n
}

// tooDeep returns the line on which more than maxDepth brackets are open, or
// that has more dashes and question marks than that, 0 if there is none: the
// parser goes into each by a call of itself and needs the square of their number
// in time. What lines open one after the other, MaxSize bounds.
func tooDeep(text []byte) int {
	brackets, entries, line := 0, 0, 1
	for i, c := range text {
		switch c {
		case '[', '{':
			brackets++
		case ']', '}':
			brackets = max(0, brackets-1)
		case '\n':
			line++
			entries = 0
		case '-', '?':
			if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t') {
				entries++
			}
		}
		if max(brackets, entries) > maxDepth {
			return line
		}
	}
	return 0
}

// syntax makes one line of a syntax error, which comes as "[LINE:COLUMN] what"
// and a picture of the place.
func syntax(file string, err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	line := "1"
	if at, what, ok := strings.Cut(strings.TrimPrefix(text, "["), "] "); ok {
		line, _, _ = strings.Cut(at, ":")
		text = what
	}
	return fmt.Errorf("%s:%s: this is not YAML: %s", file, line, text)
}

// Errorf returns an error about n: the file, its line, and the text.
func (n Node) Errorf(format string, args ...any) error {
	line := 1
	if n.node != nil {
		if t := n.node.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
	}
	return fmt.Errorf("%s:%d: %w", n.file, line, fmt.Errorf(format, args...))
}

// Key is one key that a mapping may have, and what reads its value.
type Key struct {
	Name string
	Read func(Node) error
}

// Mapping reads a mapping, strictly: each key once, and only those. what names
// it in errors, with its article.
func (n Node) Mapping(what string, keys ...Key) error {
	values, ok := n.values()
	if !ok {
		return n.Errorf("%s is written as lines of key: value, with the keys %s", what, names(keys))
	}
	seen := map[string]bool{}
	for _, v := range values {
		key := Node{n.file, v.Key}
		name := v.Key.String()
		if seen[name] {
			return key.Errorf("%s is given twice", name)
		}
		seen[name] = true
		k := find(keys, name)
		if k == nil {
			return key.Errorf("unknown key %q in %s: one of %s", name, what, names(keys))
		}
		if err := k.Read(Node{n.file, v.Value}); err != nil {
			return err
		}
	}
	return nil
}

// Entries calls read for each key and value of a mapping whose keys are free.
func (n Node) Entries(what string, read func(key string, value Node) error) error {
	values, ok := n.values()
	if !ok {
		return n.Errorf("%s is written as lines of key: value", what)
	}
	seen := map[string]bool{}
	for _, v := range values {
		key, err := Node{n.file, v.Key}.scalar(what)
		if err != nil {
			return err
		}
		if seen[key] {
			return Node{n.file, v.Key}.Errorf("%s is given twice", key)
		}
		seen[key] = true
		if err := read(key, Node{n.file, v.Value}); err != nil {
			return err
		}
	}
	return nil
}

func (n Node) values() ([]*ast.MappingValueNode, bool) {
	switch m := n.node.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// IsMapping reports whether n is a mapping.
func (n Node) IsMapping() bool {
	_, ok := n.values()
	return ok
}

// Has reports whether n is a mapping with that key.
func (n Node) Has(key string) bool {
	_, ok := n.Value(key)
	return ok
}

// Value returns the value of the first key of that name, and whether n is a
// mapping that has it: for what must be known before the rest is read, in
// whatever order it is written. Mapping still reads it too.
func (n Node) Value(key string) (Node, bool) {
	values, _ := n.values()
	for _, v := range values {
		if v.Key.String() == key {
			return Node{n.file, v.Value}, true
		}
	}
	return Node{}, false
}

// List returns the entries of a list, at most that many.
func (n Node) List(what string, most int) ([]Node, error) {
	s, ok := n.node.(*ast.SequenceNode)
	switch {
	case !ok:
		return nil, n.Errorf("%s is a list: each entry on a line with a dash", what)
	case len(s.Values) == 0 || len(s.Values) > most:
		return nil, n.Errorf("%s has %d entries: from 1 to %d", what, len(s.Values), most)
	}
	list := make([]Node, len(s.Values))
	for i, v := range s.Values {
		list[i] = Node{n.file, v}
	}
	return list, nil
}

func find(keys []Key, name string) *Key {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i]
		}
	}
	return nil
}

func names(keys []Key) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.Name
	}
	return strings.Join(all, ", ")
}
