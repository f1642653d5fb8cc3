package strictyaml

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"chaoslab/cmd/internal/cli"
)

// scalar returns a plain value as it is written.
func (n Node) scalar(what string) (string, error) {
	switch v := n.node.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.LiteralNode:
		return v.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.node.GetToken().Value, nil
	}
	return "", n.Errorf("%s is one plain value", what)
}

// Text reads a value that is not empty.
func (n Node) Text(what string, to *string) error {
	text, err := n.scalar(what)
	if err != nil {
		return err
	}
	if text == "" {
		return n.Errorf("%s is empty", what)
	}
	*to = text
	return nil
}

// Word reads one of words.
func (n Node) Word(what string, to *string, words ...string) error {
	text, err := n.scalar(what)
	if err != nil {
		return err
	}
	if !slices.Contains(words, text) {
		return n.Errorf("%s: %q is none of %s", what, text, strings.Join(words, ", "))
	}
	*to = text
	return nil
}

// Duration reads a duration with its unit, as flags take it.
func (n Node) Duration(what string, to *time.Duration) error {
	text, err := n.scalar(what)
	if err != nil {
		return err
	}
	d, err := cli.ParseDuration(text)
	if err != nil {
		return n.Errorf("%s: %w", what, err)
	}
	*to = d
	return nil
}

// Count reads a whole number from least to most.
func (n Node) Count(what string, to *int, least, most int) error {
	text, err := n.scalar(what)
	if err != nil {
		return err
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < least || v > most {
		return n.Errorf("%s: %q is out of range: a whole number from %d to %d", what, text, least, most)
	}
	*to = v
	return nil
}

// Share reads a share such as 99.9% or 0.999, above 0 and at most the whole.
func (n Node) Share(what string, to *float64) error {
	text, err := n.scalar(what)
	if err != nil {
		return err
	}
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v = math.Round(v*1e10) / 1e12 // 99.9% is 0.999 and not the float beside it
	}
	if err != nil || !(v > 0 && v <= 1) { // false for NaN, too
		return n.Errorf("%s: %q is out of range: above 0%% and at most 100%%, such as 99.9%%", what, text)
	}
	*to = v
	return nil
}
