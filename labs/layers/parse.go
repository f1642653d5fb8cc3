package layers

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxFile is the longest text that Parse takes, in bytes.
const MaxFile = 64 << 10

// Parse reads a chain from YAML:
//
//	name: checkout
//	instances: {value: 20, reason: "autoscaler's maximum"}
//	per_second: {value: 100, reason: "peak of each, May"}
//	layers: # from the outside in
//	  - name: api
//	    limit: {value: 3s, reason: "p99 of 1 s x 3, 2025-05-01, 500 calls"}
//	    retries: {value: 2, reason: "one lost packet is common"}
//	    backoff: {base: 100ms, cap: 1s, reason: "the library's default"}
//	    deadline: adopted
//
// Instead of backoff a layer may have waits, all of them together. A number may
// stand alone (limit: 3s): then it has no reason. What is not known, twice there
// or out of range is an error of one line that names file, line and key; file is
// only used for that.
func Parse(file string, text []byte) (Chain, error) {
	r := reader{file: file}
	root, err := r.root(text)
	if err != nil {
		return Chain{}, err
	}
	c, err := r.chain(root)
	if err != nil {
		return Chain{}, err
	}
	if err := c.check(); err != nil { // what no single line is to blame for
		return Chain{}, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// root parses text and returns its one document.
func (r reader) root(text []byte) (node ast.Node, err error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: longer than %d KiB", r.file, MaxFile>>10)
	}
	if line, deep := tooDeep(text); deep {
		return nil, fmt.Errorf("%s:%d: brackets nested deeper than %d", r.file, line, maxDepth)
	}
	// Text from outside must not end the process, whatever the parser makes of it.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: not YAML that can be read: %v", r.file, p)
		}
	}()
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
			return nil, fmt.Errorf("%s:%d: not YAML: %s", r.file, at.GetToken().Position.Line, at.GetMessage())
		}
		return nil, fmt.Errorf("%s: not YAML: %w", r.file, err)
	}
	switch len(parsed.Docs) {
	case 0:
		return nil, fmt.Errorf("%s: empty: it needs the key layers", r.file)
	case 1:
		if body := parsed.Docs[0].Body; body != nil {
			return body, nil
		}
		return nil, fmt.Errorf("%s: empty: it needs the key layers", r.file)
	}
	return nil, fmt.Errorf("%s: %d documents: write one chain a file", r.file, len(parsed.Docs))
}

// maxDepth bounds nesting: the parser calls itself for each level.
const maxDepth = 100

// tooDeep returns the line on which too many brackets or too many steps of a
// block are open. Brackets in quotes count too: nobody needs that many.
func tooDeep(text []byte) (line int, deep bool) {
	line = 1
	open, indent, start := 0, 0, true
	for _, c := range text {
		switch c {
		case '\n':
			line, indent, start = line+1, 0, true
			continue
		case ' ', '-', '?', ':':
			if start {
				indent++
			}
		case '[', '{':
			open, start = open+1, false
		case ']', '}':
			open, start = max(0, open-1), false
		default:
			start = false
		}
		if open > maxDepth || indent > 2*maxDepth {
			return line, true
		}
	}
	return line, false
}

// chain reads the whole file.
func (r reader) chain(root ast.Node) (Chain, error) {
	top, err := r.mapping("", root, "name", "instances", "per_second", "layers")
	if err != nil {
		return Chain{}, err
	}
	var c Chain
	if c.Name, err = top.text("name", false); err != nil {
		return Chain{}, err
	}
	if c.Instances, err = top.count("instances", 1, maxLoad); err != nil {
		return Chain{}, err
	}
	if c.PerSecond, err = top.count("per_second", 1, maxLoad); err != nil {
		return Chain{}, err
	}
	list, err := top.sequence("layers", MaxLayers)
	if err != nil {
		return Chain{}, err
	}
	taken := map[string]int{}
	for i, node := range list {
		l, line, err := r.layer(fmt.Sprintf("layers[%d]", i), node)
		if err != nil {
			return Chain{}, err
		}
		if first := taken[l.Name]; first > 0 {
			return Chain{}, r.wrong(line, fmt.Sprintf("layers[%d].name", i), "%q is taken: it is the name on line %d too", l.Name, first)
		}
		taken[l.Name] = line
		c.Layers = append(c.Layers, l)
	}
	return c, nil
}

// layer reads one layer and says on which line its name stands.
func (r reader) layer(key string, node ast.Node) (l Layer, line int, err error) {
	m, err := r.mapping(key, node, "name", "limit", "retries", "waits", "backoff", "deadline")
	if err != nil {
		return l, 0, err
	}
	if l.Name, err = m.text("name", true); err != nil {
		return l, 0, err
	}
	line = m.lineOf("name")
	if l.Limit, err = m.length("limit", true); err != nil {
		return l, line, err
	}
	if l.Retries, err = m.count("retries", 0, MaxRetries); err != nil {
		return l, line, err
	}
	if l.Waits, err = m.length("waits", false); err != nil {
		return l, line, err
	}
	if l.Backoff, err = m.backoff("backoff"); err != nil {
		return l, line, err
	}
	word, err := m.choice("deadline", Afresh.String(), Adopted.String())
	if err != nil {
		return l, line, err
	}
	if word == Adopted.String() {
		l.Deadline = Adopted
	}
	if err := l.check(); err != nil {
		return l, line, r.wrong(line, key, "%w", err)
	}
	return l, line, nil
}
