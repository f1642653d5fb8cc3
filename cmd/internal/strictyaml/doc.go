// Package strictyaml reads the files that commands are given, so that a mistake
// in one is told in one line: the file, the line, the key, and what is allowed.
//
//	root, err := strictyaml.Read("plan.yaml")
//	...
//	err = root.Mapping("the plan",
//		strictyaml.Key{Name: "name", Read: func(n strictyaml.Node) error { return n.Text("name", &plan.name) }},
//		strictyaml.Key{Name: "budget", Read: func(n strictyaml.Node) error { return n.Duration("budget", &plan.budget) }},
//	)
//
// It walks the tree instead of decoding into structs, which is the only way to
// know the line of everything. A key may be given once, and only those that are
// named.
//
// It leaves out anchors, aliases, tags and several documents in one file: no
// file of ours needs them, and each is a way to write one thing and mean
// another.
package strictyaml
