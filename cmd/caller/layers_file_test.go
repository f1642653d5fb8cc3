package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"chaoslab/cmd/internal/strictyaml"
	"chaoslab/labs/layers"
)

// chainOf reads the text of a file.
func chainOf(text string) (layers.Chain, error) {
	root, err := strictyaml.Parse("x.yaml", []byte(text))
	if err != nil {
		return layers.Chain{}, err
	}
	return parseLayers(root)
}

const wholeChain = `name: checkout
instances: {value: 20, reason: maximum}
per_second: {value: 100, reason: peak}
layers: # outside in
  - name: api
    limit: {value: 3s, reason: "p99 of 1 s x 3"}
    retries:
      value: 2
      reason: one lost packet
    backoff: {base: 100ms, cap: 1s, reason: default}
  - name: db
    limit: 300ms
    retries: 1
    waits: {value: 50ms, reason: fixed}
    deadline: adopted
`

func TestLayersFile(t *testing.T) {
	t.Parallel()
	got, err := chainOf(wholeChain)
	want := layers.Chain{
		Name: "checkout", Instances: layers.Count{N: 20, Reason: "maximum"}, PerSecond: layers.Count{N: 100, Reason: "peak"},
		Layers: []layers.Layer{
			{
				Name: "api", Limit: layers.For(3*time.Second, "p99 of 1 s x 3"), Retries: layers.Count{N: 2, Reason: "one lost packet"},
				Backoff: &layers.Backoff{Base: 100 * time.Millisecond, Cap: time.Second, Reason: "default"},
			},
			{
				Name: "db", Limit: layers.Length{D: 300 * time.Millisecond}, Retries: layers.Count{N: 1},
				Waits: layers.For(50*time.Millisecond, "fixed"), Deadline: layers.Adopted,
			},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("chainOf(%s)\n= %+v, %v\nwant %+v", wholeChain, got, err, want)
	}
}

func TestLayersFileRefuses(t *testing.T) {
	t.Parallel()
	one := "layers:\n  - name: a\n    limit: 1s\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "x.yaml:1: not one YAML document but 0"},
		{"no YAML", "a: b: c\n", "x.yaml:1: this is not YAML: "},
		{"a list", "- a\n", "x.yaml:1: the file is written as lines of key: value, with the keys name, instances, per_second, layers"},
		{"no layers", "name: x\n", "x.yaml:1: layers is missing: write them from the outside in, such as"},
		{"empty layers", "name: x\nlayers: []\n", "x.yaml:2: layers has 0 entries: from 1 to 100"},
		{"layers is a word", "layers: none\n", "x.yaml:1: layers is a list"},
		{"two documents", one + "---\n" + one, "x.yaml:1: not one YAML document but 2"},
		{"unknown key", one + "    retry: 1\n", `x.yaml:4: unknown key "retry" in layers[0]: one of name, limit, retries, waits, backoff, deadline`},
		{"unknown key above", "layer:\n", `x.yaml:1: unknown key "layer" in the file: one of name, instances, per_second, layers`},
		{"a key twice", one + "    limit: 2s\n", "x.yaml:4: "},
		{"no limit", "layers:\n  - name: a\n", "x.yaml:2: layers[0].limit is missing: write how long one try may take"},
		{"no name", "layers:\n  - limit: 1s\n", "x.yaml:2: layers[0].name is missing"},
		{"empty name", "layers:\n  - name: ''\n    limit: 1s\n", "x.yaml:2: layers[0].name is empty"},
		{"a name that rings", "layers:\n  - name: \"a\\u0007\"\n    limit: 1s\n", "x.yaml:2: layers[0]: name: "},
		{"a chain that rings", "name: \"a\\u0007\"\n" + one, "x.yaml:1: name: "},
		{"a name twice", one + "  - name: a\n    limit: 1ms\n", `x.yaml:4: layers[1].name: "a" is taken`},
		{"no unit", "layers:\n  - name: a\n    limit: 5\n", `x.yaml:3: layers[0].limit: "5" has no unit: write 5ms or 5s`},
		{"zero", "layers:\n  - name: a\n    limit: 0\n", `x.yaml:3: layers[0].limit: "0" is refused`},
		{"negative", "layers:\n  - name: a\n    limit: -1s\n", `x.yaml:3: layers[0].limit: "-1s" is negative`},
		{"too long", "layers:\n  - name: a\n    limit: 3000000h\n", `x.yaml:3: layers[0].limit: "3000000h" is too long: at most`},
		{"no duration", "layers:\n  - name: a\n    limit: soon\n", `x.yaml:3: layers[0].limit: "soon" is not a duration`},
		{"value without unit", "layers:\n  - name: a\n    limit:\n      reason: r\n      value: 5\n", `x.yaml:5: layers[0].limit: "5" has no unit`},
		{"reason without value", "layers:\n  - name: a\n    limit: {reason: r}\n", "x.yaml:3: layers[0].limit has no value"},
		{"reason misspelt", "layers:\n  - name: a\n    limit: {value: 1s, because: r}\n", `x.yaml:3: unknown key "because" in layers[0].limit: one of value, reason`},
		{"half a retry", one + "    retries: 1.5\n", `x.yaml:4: layers[0].retries: "1.5" is out of range: a whole number from 0 to 99`},
		{"a hundred retries", one + "    retries: 100\n", `x.yaml:4: layers[0].retries: "100" is out of range: a whole number from 0 to 99`},
		{"a list of retries", one + "    retries: [1]\n", "x.yaml:4: layers[0].retries is one plain value"},
		{"other deadline", one + "    deadline: later\n", `x.yaml:4: layers[0].deadline: "later" is none of afresh, adopted`},
		{"waits without retries", one + "    waits: 1s\n", "x.yaml:2: layers[0]: waits without retries"},
		{"waits with backoff", one + "    retries: 1\n    waits: 1s\n    backoff: {base: 1s, cap: 1s}\n", "x.yaml:2: layers[0]: waits with backoff"},
		{"half a backoff", one + "    retries: 1\n    backoff: {base: 1s}\n", "x.yaml:5: layers[0].backoff needs both base and cap"},
		{"base above cap", one + "    retries: 1\n    backoff: {base: 2s, cap: 1s}\n", "x.yaml:2: layers[0]: backoff: Cap: 1s is below Base"},
		{"half a load", "instances: 2\n" + one, "x.yaml:1: instances and requests per second: one without the other"},
		{"no load", "instances: 0\nper_second: 1\n" + one, `x.yaml:1: instances: "0" is out of range: a whole number from 1 to`},
		{"an alias", "layers:\n  - name: &n a\n    limit: 1s\n  - name: *n\n    limit: 1s\n", "x.yaml:2: layers[0].name is one plain value"},
		{"a long file", strings.Repeat("#\n", strictyaml.MaxSize), "x.yaml: longer than 64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := chainOf(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("chainOf(%.200q) = %+v, %v; want one line with %q", c.text, got, err, c.want)
			}
		})
	}
}

// The files that come with the project say what their names say.
func TestLayersExamples(t *testing.T) {
	t.Parallel()
	want := map[string]layers.Verdict{
		"sound.yaml": layers.Sound, "tight.yaml": layers.Tight, "cannot-hold.yaml": layers.CannotHold, "three-seconds-each.yaml": layers.CannotHold,
		"adopted.yaml": layers.Sound, "tries-multiply.yaml": layers.Sound, "load.yaml": layers.Sound, "budget.yaml": layers.CannotHold,
	}
	files, err := filepath.Glob("../../examples/layers/*.yaml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, %v; want %d", len(files), err, len(want))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := chainOf(string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		a, err := c.Audit()
		if verdict, known := want[filepath.Base(file)]; err != nil || !known || a.Verdict != verdict || len(a.Warnings) > 0 {
			t.Errorf("%s: %v, %v, warnings %v; want %v and none", file, a.Verdict, err, a.Warnings, verdict)
		}
	}
}

// FuzzLayersFile: whatever is read is a chain that can be audited, and whatever is
// refused is told in one line.
func FuzzLayersFile(f *testing.F) {
	for _, text := range []string{wholeChain, "layers:\n  - name: a\n    limit: 1s\n", "layers: [{name: a, limit: {value: 1s}}]", "- &a *a", "? a\n: b\n", "a: !!x |\n  b\n", "<<: {a: b}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := chainOf(string(text))
		if err != nil {
			if line := err.Error(); strings.Contains(line, "\n") || !strings.HasPrefix(line, "x.yaml:") {
				t.Errorf("chainOf(%q): error %q, want one line that names the file", text, line)
			}
			return
		}
		a, err := c.Audit()
		if err == nil && len(a.Findings) != len(c.Layers) {
			t.Errorf("chainOf(%q): %d findings of %d layers", text, len(a.Findings), len(c.Layers))
		}
	})
}
