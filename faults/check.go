package faults

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds the bytes of a listener's name.
const maxName = 64

// CheckName says what is wrong with a listener's name, or nil. It stands in lines
// that scripts read, in URLs and in metrics.
func CheckName(name string) error {
	ok := name != "" && len(name) <= maxName && utf8.ValidString(name)
	for _, r := range name {
		ok = ok && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.+:", r))
	}
	if !ok {
		return fmt.Errorf("name %q: at most %d letters, digits and - _ . + : are allowed", name, maxName)
	}
	return nil
}

// CheckListen says what is wrong with a listen address, or nil.
func CheckListen(listen string, allowRemote bool) error {
	_, err := addresses(listen, allowRemote)
	return err
}

// CheckRow says what is wrong with faults in a row, or nil: there are too many, or
// one can never act.
func (m Modes) CheckRow(specs []Spec) error {
	if err := m.checkSpecs(specs); err != nil {
		return err
	}
	p, err := newPlan(specs, 0, "")
	if err == nil {
		p.release()
	}
	return err
}

// DefaultName is the name of a listener that is given none.
func DefaultName(specs []Spec) string { return modeOf(specs) }
