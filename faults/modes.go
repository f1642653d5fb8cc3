package faults

import (
	"fmt"
	"slices"
	"strings"
)

// Modes is a list of faults: those of this package and, after them, others that
// were added. The zero value has those of this package alone, and is what the
// functions All, Names, Lookup, Parse, ParseWith and MarkdownTable go by.
type Modes struct{ more []Fault }

// With returns m with one more fault, made by Custom.
func (m Modes) With(f Fault) Modes { return Modes{append(slices.Clip(m.more), f)} }

// All returns every fault in the order in which tables show them. The slice is
// the caller's own.
func (m Modes) All() []Fault {
	all := append(All(), m.more...)
	for i := range all {
		all[i].index = int16(i)
	}
	return all
}

// Names returns the names of all faults, in order.
func (m Modes) Names() []string {
	all := m.All()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	return names
}

// Lookup returns the fault of that name, or an error that lists all names.
func (m Modes) Lookup(name string) (Fault, error) {
	all := m.All()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, fmt.Errorf("unknown mode %q: one of %s", name, strings.Join(m.Names(), ", "))
	}
	return all[i], nil
}

// Names returns the names of all faults, in order.
func Names() []string { return Modes{}.Names() }

// Lookup returns the fault of that name, or an error that lists all names.
func Lookup(name string) (Fault, error) { return Modes{}.Lookup(name) }
