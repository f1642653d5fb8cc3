package layers

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const whole = `name: checkout
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

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse("whole.yaml", []byte(whole))
	want := Chain{
		Name: "checkout", Instances: Count{20, "maximum"}, PerSecond: Count{100, "peak"},
		Layers: []Layer{
			{
				Name: "api", Limit: For(3*time.Second, "p99 of 1 s x 3"), Retries: Count{2, "one lost packet"},
				Backoff: &Backoff{100 * time.Millisecond, time.Second, "default"},
			},
			{
				Name: "db", Limit: Length{D: 300 * time.Millisecond}, Retries: Count{N: 1},
				Waits: For(50*time.Millisecond, "fixed"), Deadline: Adopted,
			},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Parse(%s)\n= %+v, %v\nwant %+v", whole, got, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	one := "layers:\n  - name: a\n    limit: 1s\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "x.yaml: empty: it needs the key layers"},
		{"only a comment", "# nothing\n", "x.yaml: empty: it needs the key layers"},
		{"no YAML", "a: b: c\n", "x.yaml:1: not YAML: "},
		{"a list", "- a\n", "x.yaml:1: a list, want a mapping of name, instances, per_second, layers"},
		{"a word", "hello\n", "x.yaml:1: a single value, want a mapping"},
		{"no layers", "name: x\n", "x.yaml:1: layers: it is missing"},
		{"empty layers", "name: x\nlayers: []\n", "x.yaml:2: layers: 0 entries: from 1 to 100"},
		{"layers is a word", "layers: none\n", "x.yaml:1: layers: a single value, want a list"},
		{"layers is nothing", "layers:\n", "x.yaml:1: layers: empty, want a list"},
		{"two documents", one + "---\n" + one, "x.yaml: 2 documents"},
		{"unknown key", one + "    retry: 1\n", `x.yaml:4: layers[0]: unknown key "retry": one of name, limit, retries, waits, backoff, deadline`},
		{"unknown key above", "layer:\n", `x.yaml:1: unknown key "layer": one of name, instances, per_second, layers`},
		{"a key twice", one + "    limit: 2s\n", "x.yaml:4: "},
		{"no limit", "layers:\n  - name: a\n", "x.yaml:2: layers[0].limit: it is missing"},
		{"no name", "layers:\n  - limit: 1s\n", "x.yaml:2: layers[0].name: it is missing"},
		{"empty name", "layers:\n  - name: ''\n    limit: 1s\n", "x.yaml:2: layers[0].name: empty"},
		{"a name twice", one + "  - name: a\n    limit: 1ms\n", `x.yaml:4: layers[1].name: "a" is taken: it is the name on line 2 too`},
		{"no unit", "layers:\n  - name: a\n    limit: 5\n", `x.yaml:3: layers[0].limit: "5" has no unit: write a number with its unit, such as 300ms or 3s`},
		{"zero", "layers:\n  - name: a\n    limit: 0\n", `"0" has no unit`},
		{"zero with unit", "layers:\n  - name: a\n    limit: 0s\n", `"0s" is out of range: above 0`},
		{"negative", "layers:\n  - name: a\n    limit: -1s\n", `"-1s" is out of range`},
		{"too long", "layers:\n  - name: a\n    limit: 3000000h\n", `x.yaml:3: layers[0].limit: "3000000h" is not a duration up to`},
		{"no duration", "layers:\n  - name: a\n    limit: soon\n", `"soon" is not a duration`},
		{"value without unit", "layers:\n  - name: a\n    limit:\n      reason: r\n      value: 5\n", `x.yaml:5: layers[0].limit.value: "5" has no unit`},
		{"reason without value", "layers:\n  - name: a\n    limit: {reason: r}\n", "x.yaml:3: layers[0].limit.value: it is missing"},
		{"reason misspelt", "layers:\n  - name: a\n    limit: {value: 1s, because: r}\n", `x.yaml:3: layers[0].limit: unknown key "because": one of value, reason`},
		{"half a retry", one + "    retries: 1.5\n", `x.yaml:4: layers[0].retries: "1.5" is not a whole number from 0 to 99`},
		{"a hundred retries", one + "    retries: 100\n", `"100" is not a whole number from 0 to 99`},
		{"retries yes", one + "    retries: true\n", `"true" is not a whole number`},
		{"a list of retries", one + "    retries: [1]\n", "x.yaml:4: layers[0].retries: a list, want a single value"},
		{"other deadline", one + "    deadline: later\n", `x.yaml:4: layers[0].deadline: "later" is none of afresh, adopted`},
		{"waits without retries", one + "    waits: 1s\n", "x.yaml:2: layers[0]: waits without retries"},
		{"half a backoff", one + "    retries: 1\n    backoff: {base: 1s}\n", "x.yaml:5: layers[0].backoff.cap: it is missing"},
		{"base above cap", one + "    retries: 1\n    backoff: {base: 2s, cap: 1s}\n", "x.yaml:2: layers[0]: backoff: Cap: 1s is below Base"},
		{"half a load", "instances: 2\n" + one, "x.yaml: instances and requests per second"},
		{"no load", "instances: 0\nper_second: 1\n" + one, `x.yaml:1: instances: "0" is not a whole number from 1 to`},
		{"an anchor", "layers:\n  - &a\n    name: a\n    limit: 1s\n", "an anchor, alias or tag, want a mapping"},
		{"an alias", "layers:\n  - name: &n a\n    limit: 1s\n  - name: *n\n    limit: 1s\n", "an anchor, alias or tag"},
		{"a tag", "layers:\n  - name: !!str a\n    limit: 1s\n", "an anchor, alias or tag"},
		{"a control character", "layers:\n  - name: \"a\\u0007\"\n    limit: 1s\n", "a character that cannot be printed"},
		{"a long name", "layers:\n  - name: " + strings.Repeat("a", 1001) + "\n    limit: 1s\n", "longer than 1000 bytes"},
		{"a long file", strings.Repeat("#\n", MaxFile), "x.yaml: longer than 64 KiB"},
		{"deep brackets", strings.Repeat("[", 60_000), "x.yaml:1: brackets nested deeper than 100"},
		{"deep lists", strings.Repeat("- ", 30_000), "nested deeper than 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse("x.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Parse(%.200q) = %+v, %v; want one line with %q", c.text, got, err, c.want)
			}
		})
	}
}

// Text that costs a careless parser time or stack.
func TestParseIsQuick(t *testing.T) {
	t.Parallel()
	const most = 5 * time.Second // the machine may be busy
	for name, unit := range map[string]string{
		"tags": "!a ", "anchors": "&a ", "quotes": `"`, "keys": "a: ", "questions": "? ", "colons": ": ",
		"pipes": "|\n", "documents": "---\n", "lines": "a: 1\n", "merges": "<<: ", "braces": "{a: ", "stars": "*a ", "tabs": "\t",
	} {
		text := strings.Repeat(unit, MaxFile/len(unit))
		start := time.Now()
		_, err := Parse("x.yaml", []byte(text))
		if took := time.Since(start); err == nil || took > most {
			t.Errorf("%s: %v after %v, want an error within %v", name, err, took, most)
		}
	}
}

// The files that come with the project say what their names say.
func TestExamples(t *testing.T) {
	t.Parallel()
	want := map[string]Verdict{
		"sound.yaml": Sound, "tight.yaml": Tight, "cannot-hold.yaml": CannotHold, "three-seconds-each.yaml": CannotHold,
		"adopted.yaml": Sound, "tries-multiply.yaml": Sound, "load.yaml": Sound, "budget.yaml": CannotHold,
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
		c, err := Parse(file, text)
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

// FuzzParse: whatever is read is a chain that can be audited, and whatever is
// refused is told in one line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{whole, "layers:\n  - name: a\n    limit: 1s\n", "layers: [{name: a, limit: {value: 1s}}]", "- &a *a", "? a\n: b\n", "a: !!x |\n  b\n", "<<: {a: b}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("x.yaml", text)
		if err != nil {
			if line := err.Error(); strings.Contains(line, "\n") || !strings.HasPrefix(line, "x.yaml:") {
				t.Errorf("Parse(%q): error %q, want one line that names the file", text, line)
			}
			return
		}
		a, err := c.Audit()
		if err == nil && len(a.Findings) != len(c.Layers) {
			t.Errorf("Parse(%q): %d findings of %d layers", text, len(a.Findings), len(c.Layers))
		}
	})
}
