package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"chaoslab/faults"
)

// MaxSize is how long a file may be.
const MaxSize = 1 << 20

// File is what a configuration file says. What it does not say is zero.
type File struct {
	Config faults.Config
	Seed   bool   // it gives a seed
	Admin  string // address of the admin port
	// TLS says, for each listener of Config, whether TLS is to be spoken. A
	// certificate is the business of whoever starts the partner.
	TLS []bool
}

// Parse reads a file's text. name is the file's, for errors, which are one line
// each: FILE:LINE: what is wrong and what is allowed.
func Parse(name string, text []byte) (File, error) {
	r := reader{name: name}
	if len(text) > MaxSize {
		return File{}, fmt.Errorf("%s: longer than %d bytes", name, MaxSize)
	}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return File{}, r.syntax(err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return File{}, fmt.Errorf("%s:1: no single YAML document: write listeners: and under it at least one", name)
	}
	var f File
	if err := r.file(parsed.Docs[0].Body, &f); err != nil {
		return File{}, err
	}
	return f, nil
}

// reader walks the tree: it is the only way to know the line of everything.
type reader struct {
	name string
}

func (r reader) errorf(n ast.Node, format string, args ...any) error {
	line := 1
	if t := n.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return fmt.Errorf("%s:%d: %w", r.name, line, fmt.Errorf(format, args...))
}

// syntax makes one line of a syntax error, which comes as "[LINE:COLUMN] what"
// and a picture of the place.
func (r reader) syntax(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	line := "1"
	if at, what, ok := strings.Cut(strings.TrimPrefix(text, "["), "] "); ok {
		line, _, _ = strings.Cut(at, ":")
		text = what
	}
	return fmt.Errorf("%s:%s: this is not YAML: %s", r.name, line, text)
}

// key is one allowed key of a mapping and what reads its value.
type key struct {
	name string
	read func(ast.Node) error
}

// mapping reads a mapping, strictly: each key once, and only those.
func (r reader) mapping(n ast.Node, what string, keys []key) error {
	values, err := r.values(n, what)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, v := range values {
		name := v.Key.String()
		if seen[name] {
			return r.errorf(v.Key, "%s is given twice", name)
		}
		seen[name] = true
		k := find(keys, name)
		if k == nil {
			return r.errorf(v.Key, "unknown key %q in %s: %s", name, what, namesOf(keys))
		}
		if err := k.read(v.Value); err != nil {
			return err
		}
	}
	return nil
}

func find(keys []key, name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func namesOf(keys []key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

func (r reader) values(n ast.Node, what string) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, r.errorf(n, "%s is written as key: value lines", what)
}

func (r reader) sequence(n ast.Node, what string) ([]ast.Node, error) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, r.errorf(n, "%s is a list: each entry on a line with a dash", what)
	}
	return s.Values, nil
}

// scalar reads a plain value as it is written.
func (r reader) scalar(n ast.Node, what string) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	}
	return "", r.errorf(n, "%s is one plain value", what)
}

func (r reader) boolean(n ast.Node, what string) (bool, error) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		return false, r.errorf(n, "%s is true or false", what)
	}
	return b.Value, nil
}
