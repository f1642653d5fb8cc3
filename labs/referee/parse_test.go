package referee

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"chaoslab/labs/referee/handin"
)

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
		ok   bool
	}{
		{"python3 main.py", []string{"python3", "main.py"}, true},
		{"  a\t b ", []string{"a", "b"}, true},
		{`java -cp "my lib" Main ''`, []string{"java", "-cp", "my lib", "Main", ""}, true},
		{"# a b", nil, true},
		{"a 'b", nil, false},
		{"", nil, true},
	} {
		got, err := splitWords(c.line)
		if !slices.Equal(got, c.want) || (err == nil) != c.ok {
			t.Errorf("splitWords(%q) = %q, %v, want %q, ok %v", c.line, got, err, c.want, c.ok)
		}
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add(`a "b c" 'd'`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := splitWords(line)
		if err != nil && words != nil {
			t.Errorf("splitWords(%q) = %q and %v", line, words, err)
		}
	})
}

func TestSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, field, want string
		ok                      bool
	}{
		{"word", "Refused", "", "refused", true},
		{"word for any field", "refused", "class", "refused", true},
		{"class", `{"class":"refused","n":3}`, "", "refused", true},
		{"number", `{"n":3.50}`, "n", "3.5", true},
		{"nested", `{"a":{"b":true}}`, "a.b", "true", true},
		{"null", `{"a":null}`, "a", "null", true},
		{"list", `{"a":["x"]}`, "a", `["x"]`, true},
		{"absent", `{"a":1}`, "b", "", false},
		{"through a number", `{"a":1}`, "a.b", "", false},
		{"broken JSON is a word", `{"a":1`, "", `{"a":1`, true},
		{"empty", "", "", "", false},
	} {
		got, ok := say(c.line).Word(c.field)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: say(%q).Word(%q) = %q, %v, want %q, %v", c.name, c.line, c.field, got, ok, c.want, c.ok)
		}
	}
	for _, c := range []struct {
		line string
		want float64
		ok   bool
	}{
		{`{"n":3}`, 3, true},
		{`{"n":"4"}`, 4, true},
		{`{"n":true}`, 0, false},
		{`{"n":"inf"}`, 0, false},
		{`{"n":"NaN"}`, 0, false},
		{`{"n":1e999}`, 0, false},
	} {
		if got, ok := say(c.line).Number("n"); ok != c.ok || ok && got != c.want {
			t.Errorf("say(%q).Number = %v, %v, want %v, %v", c.line, got, ok, c.want, c.ok)
		}
	}
}

func FuzzSay(f *testing.F) {
	f.Add(`{"class":"ok"}`, "class")
	f.Add("ok", "")
	f.Fuzz(func(t *testing.T, line, field string) {
		say(line).Word(field)
		say(line).Number(field)
		if shown := oneLine(line); strings.ContainsAny(shown, "\n\x1b") || len([]rune(shown)) > maxShown {
			t.Errorf("oneLine(%q) = %q", line, shown)
		}
	})
}

func TestDraw(t *testing.T) {
	t.Parallel()
	v := values{}
	err := v.draw(rand.New(rand.NewPCG(1, 2)), []string{"a=10..20", "b=$a", "c=3*$a+5-1", "w=x|y", "t=${a}ms", "d=1..$a", "date=86400"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := v.number("$a")
	if c, _ := v.number("$c"); a < 10 || a > 20 || v["b"] != v["a"] || c != 3*a+4 || v["t"] != v["a"]+"ms" || !strings.Contains("x y", v["w"]) {
		t.Errorf("drawn: %v", v)
	}
	for _, bad := range []string{"a", "=3", "x=5..3", "x=$nothing", "x=a..b"} {
		if err := (values{}).draw(rand.New(rand.NewPCG(1, 2)), []string{bad}); err == nil {
			t.Errorf("draw %q: no error", bad)
		}
	}
	if chance(1, "x").Uint64() != chance(1, "x").Uint64() || chance(1, "x").Uint64() == chance(2, "x").Uint64() {
		t.Error("chance is not a function of its seed")
	}
}

func FuzzSum(f *testing.F) {
	f.Add("3*120+20-5")
	f.Add("-1")
	f.Fuzz(func(_ *testing.T, s string) {
		sum(s)
		_, _ = values{"a": "1"}.text(s)
	})
}

// TestPredictionsLook holds that who wrote no figure is not sent to think about it.
func TestPredictionsLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, look string }{
		{"no figure yet", "k = ?", "question mark"},
		{"not there", "", "question mark"},
		{"with its unit", "k = 90%", "without a unit"},
		{"with a comma", "k = 1,5", "with a point"},
		{"wrong", "k = 3", "think"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := handin.Write(dir, PredictFile, []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			lab := &Lab{Predict: []Question{{Key: "k", From: 1, To: 2, Look: "think"}}}
			if f := lab.judgePredictions(dir)[0]; f.Verdict != Fail || !strings.Contains(f.Look, c.look) {
				t.Errorf("with %q: %+v, want it to fail and to look at %q", c.text, f, c.look)
			}
		})
	}
}

func TestPredictions(t *testing.T) {
	t.Parallel()
	got := parsePredictions("# x = 1\n a = 2 # two\nb=?\nnonsense\nc = 1 = 2\n")
	if got["a"] != "2" || got["b"] != "?" || got["c"] != "1 = 2" || len(got) != 3 {
		t.Errorf("parsePredictions: %v", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	const head = "number: 1\nname: x\ntitle: x\nminutes: 1\nhints: [a, b, c]\n"
	const scenario = "scenarios:\n  - name: s\n    partners: [{name: p, faults: [ok]}]\n    checks:\n"
	for _, c := range []struct{ name, text, want string }{
		{"no number", "name: x\n", "number 0"},
		{"unknown key", head + "colour: red\n", "colour"},
		{"two hints", "number: 1\nname: x\ntitle: x\nminutes: 1\nhints: [a, b]\n", "2 hints"},
		{"unknown check", head + scenario + "      - {check: luck}\n", `no check "luck"`},
		{"unknown parameter", head + scenario + "      - {check: said, colour: red}\n", `it takes no "colour"`},
		{"no number there", head + scenario + "      - {check: took, from: soon}\n", `"soon" is no number`},
		{"never drawn", head + scenario + "      - {check: took, from: $x}\n", "$x was never drawn"},
		{"no checks", head + "scenarios:\n  - name: s\n    partners: [{name: p, faults: [ok]}]\n", "no checks"},
		{"unknown fault", head + strings.Replace(scenario, "[ok]", "[luck]", 1) + "      - {check: said, word: ok}\n", `unknown mode "luck"`},
	} {
		_, err := Load(fstest.MapFS{"lab.yaml": &fstest.MapFile{Data: []byte(c.text)}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Load: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Load(fstest.MapFS{}); err == nil {
		t.Error("Load of an empty folder: no error")
	}
}

func TestGoRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, build, args string }{
		{"go run .", ".", ""},
		{"go run main.go", "main.go", ""},
		{"go run main.go other.go -x", "main.go other.go", "-x"},
		{"go run ./cmd a b", "./cmd", "a b"},
		{"go run -race .", "-race .", ""},
		{"go run -tags lab -ldflags=-s . -tags", "-tags lab -ldflags=-s .", "-tags"},
		{"go run", "", ""},
		{"go run -race", "", ""},
		{"go run -tags lab", "", ""},
		{"go run -exec time .", "", ""},
		{"go build .", "", ""},
		{"python3 main.py", "", ""},
	} {
		build, args, ok := goRun(strings.Fields(c.line))
		if strings.Join(build, " ") != c.build || strings.Join(args, " ") != c.args || ok != (c.build != "") {
			t.Errorf("%q: build %q, args %q, %v; want %q and %q", c.line, build, args, ok, c.build, c.args)
		}
	}
}
