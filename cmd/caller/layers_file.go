package main

import (
	"fmt"
	"time"

	"chaoslab/cmd/internal/strictyaml"
	"chaoslab/labs/layers"
)

// parseLayers reads a chain of layers. Its errors name the file, the line, the
// key and what is allowed.
func parseLayers(root strictyaml.Node) (layers.Chain, error) {
	var c layers.Chain
	var list *strictyaml.Node
	err := root.Mapping("the file",
		strictyaml.Key{Name: "name", Read: func(n strictyaml.Node) error { return n.Text("name", &c.Name) }},
		strictyaml.Key{Name: "instances", Read: func(n strictyaml.Node) error { return countOf(n, "instances", 1, layers.MaxLoad, &c.Instances) }},
		strictyaml.Key{Name: "per_second", Read: func(n strictyaml.Node) error { return countOf(n, "per_second", 1, layers.MaxLoad, &c.PerSecond) }},
		strictyaml.Key{Name: "layers", Read: func(n strictyaml.Node) error { list = &n; return nil }},
	)
	switch {
	case err != nil:
		return c, err
	case list == nil:
		return c, root.Errorf("layers is missing: write them from the outside in, such as - {name: api, limit: 3s}")
	}
	entries, err := list.List("layers", layers.MaxLayers)
	if err != nil {
		return c, err
	}
	names := map[string]bool{}
	for i, n := range entries {
		l, err := layerOf(n, fmt.Sprintf("layers[%d]", i))
		if err != nil {
			return c, err
		}
		if names[l.Name] {
			return c, n.Errorf("layers[%d].name: %q is taken", i, l.Name)
		}
		names[l.Name] = true
		c.Layers = append(c.Layers, l)
	}
	if err := c.Check(); err != nil { // what no single line is to blame for
		return c, root.Errorf("%w", err)
	}
	return c, nil
}

// layerOf reads one layer, key in the file.
func layerOf(n strictyaml.Node, key string) (layers.Layer, error) {
	var l layers.Layer
	var deadline string
	in := func(name string) string { return key + "." + name }
	err := n.Mapping(key,
		strictyaml.Key{Name: "name", Read: func(n strictyaml.Node) error { return n.Text(in("name"), &l.Name) }},
		strictyaml.Key{Name: "limit", Read: func(n strictyaml.Node) error { return lengthOf(n, in("limit"), &l.Limit) }},
		strictyaml.Key{Name: "retries", Read: func(n strictyaml.Node) error { return countOf(n, in("retries"), 0, layers.MaxRetries, &l.Retries) }},
		strictyaml.Key{Name: "waits", Read: func(n strictyaml.Node) error { return lengthOf(n, in("waits"), &l.Waits) }},
		strictyaml.Key{Name: "backoff", Read: func(n strictyaml.Node) error { return backoffOf(n, in("backoff"), &l) }},
		strictyaml.Key{Name: "deadline", Read: func(n strictyaml.Node) error {
			return n.Word(in("deadline"), &deadline, layers.Afresh.String(), layers.Adopted.String())
		}},
	)
	if deadline == layers.Adopted.String() {
		l.Deadline = layers.Adopted
	}
	switch {
	case err != nil:
		return l, err
	case l.Name == "":
		return l, n.Errorf("%s is missing", in("name"))
	case l.Limit.D == 0:
		return l, n.Errorf("%s is missing: write how long one try may take, such as limit: 3s", in("limit"))
	}
	if err := l.Check(); err != nil {
		return l, n.Errorf("%s: %w", key, err)
	}
	return l, nil
}

// lengthOf reads a duration, with or without its reason.
func lengthOf(n strictyaml.Node, what string, to *layers.Length) error {
	value, reason, err := reasoned(n, what)
	if err != nil {
		return err
	}
	to.Reason = reason
	return value.Duration(what, &to.D)
}

// countOf reads a whole number, with or without its reason.
func countOf(n strictyaml.Node, what string, least, most int, to *layers.Count) error {
	value, reason, err := reasoned(n, what)
	if err != nil {
		return err
	}
	to.Reason = reason
	return value.Count(what, &to.N, least, most)
}

func backoffOf(n strictyaml.Node, what string, to *layers.Layer) error {
	var b layers.Backoff
	read := func(name string, to *time.Duration) strictyaml.Key {
		return strictyaml.Key{Name: name, Read: func(n strictyaml.Node) error { return n.Duration(what+"."+name, to) }}
	}
	err := n.Mapping(what, read("base", &b.Base), read("cap", &b.Cap),
		strictyaml.Key{Name: "reason", Read: func(n strictyaml.Node) error { return n.Text(what+".reason", &b.Reason) }},
	)
	if err == nil && (b.Base == 0 || b.Cap == 0) {
		err = n.Errorf("%s needs both base and cap, such as {base: 100ms, cap: 1s}", what)
	}
	to.Backoff = &b
	return err
}
