package config

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"chaoslab/faults"
)

// file reads the top of a file.
func (r reader) file(n ast.Node, f *File) error {
	err := r.mapping(n, "the file", []key{
		{"seed", func(n ast.Node) error { f.Seed = true; return r.unsigned(n, "seed", &f.Config.Seed) }},
		{"admin", func(n ast.Node) error { return r.text(n, "admin", &f.Admin) }},
		{"ledger_size", func(n ast.Node) error { return r.count(n, "ledger_size", &f.Config.LedgerSize) }},
		{"max_connections", func(n ast.Node) error { return r.count(n, "max_connections", &f.Config.MaxConns) }},
		{"per_request", func(n ast.Node) error {
			on, err := r.boolean(n, "per_request")
			f.Config.NoPerRequest = !on
			return err
		}},
		{"listeners", func(n ast.Node) error { return r.listeners(n, f) }},
	})
	if err == nil && len(f.Config.Listeners) == 0 {
		return r.errorf(n, "no listener: write listeners: and under it at least one, such as - listen: 127.0.0.1:8080")
	}
	return err
}

func (r reader) text(n ast.Node, what string, to *string) (err error) {
	*to, err = r.scalar(n, what)
	return err
}

func (r reader) unsigned(n ast.Node, what string, to *uint64) error {
	text, err := r.scalar(n, what)
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseUint(text, 10, 64); err != nil {
		return r.errorf(n, "%s: %q is not a whole number from 0", what, text)
	}
	return nil
}

// maxCount bounds the sizes that a file may set.
const maxCount = 10_000_000

func (r reader) count(n ast.Node, what string, to *int) error {
	var v uint64
	if err := r.unsigned(n, what, &v); err != nil {
		return err
	}
	if v < 1 || v > maxCount {
		return r.errorf(n, "%s: %d is out of range: 1 to %d", what, v, maxCount)
	}
	*to = int(v)
	return nil
}

// maxListeners bounds the listeners of a file.
const maxListeners = 1000

func (r reader) listeners(n ast.Node, f *File) error {
	entries, err := r.sequence(n, "listeners")
	if err != nil {
		return err
	}
	if len(entries) > maxListeners {
		return r.errorf(n, "more than %d listeners", maxListeners)
	}
	names := map[string]bool{}
	for _, entry := range entries {
		var l faults.ListenerConfig
		var tls bool
		err := r.mapping(entry, "a listener", []key{
			{"name", func(n ast.Node) error { return r.text(n, "name", &l.Name) }},
			{"listen", func(n ast.Node) error { return r.text(n, "listen", &l.Listen) }},
			{"tls", func(n ast.Node) (err error) { tls, err = r.boolean(n, "tls"); return err }},
			{"faults", func(n ast.Node) (err error) { l.Faults, err = r.faults(n); return err }},
		})
		if err != nil {
			return err
		}
		if l.Name != "" && names[l.Name] {
			return r.errorf(entry, "the name %s is given twice", l.Name)
		}
		names[l.Name] = true
		f.Config.Listeners = append(f.Config.Listeners, l)
		f.TLS = append(f.TLS, tls)
	}
	return nil
}

// faults reads a list of faults, each as text or as a mapping.
func (r reader) faults(n ast.Node) ([]faults.Spec, error) {
	entries, err := r.sequence(n, "faults")
	if err != nil {
		return nil, err
	}
	var specs []faults.Spec
	for _, entry := range entries {
		s, err := r.fault(entry)
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	return specs, nil
}

func (r reader) fault(n ast.Node) (faults.Spec, error) {
	if text, err := r.scalar(n, "a fault"); err == nil {
		s, err := faults.Parse(text)
		if err != nil {
			return s, r.errorf(n, "%w", err)
		}
		return s, nil
	}
	values, err := r.values(n, "a fault")
	if err != nil {
		return faults.Spec{}, err
	}
	mode, params, at := "", map[string]string{}, n
	for _, v := range values {
		name := v.Key.String()
		text, err := r.scalar(v.Value, name)
		if err != nil {
			return faults.Spec{}, err
		}
		if _, twice := params[name]; twice || name == "mode" && mode != "" {
			return faults.Spec{}, r.errorf(v.Key, "%s is given twice", name)
		}
		if name == "mode" {
			mode, at = text, v.Value
			continue
		}
		params[name] = text
		// A value is judged with its own line; what only shows together has the
		// mode's.
		if mode != "" {
			if _, err := faults.ParseWith(mode, map[string]string{name: text}); err != nil {
				return faults.Spec{}, r.errorf(v.Key, "%w", err)
			}
		}
	}
	s, err := faults.ParseWith(mode, params)
	if err != nil {
		return s, r.errorf(at, "%w", err)
	}
	return s, nil
}
