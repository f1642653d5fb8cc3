package main

import (
	"path/filepath"
	"strings"
	"testing"

	"chaoslab/budgetcaller/screen"
)

func TestScreenTargets(t *testing.T) {
	t.Parallel()
	p, err := parsePlan(wholePlan)
	if err != nil {
		t.Fatal(err)
	}
	const here = "http://127.0.0.1:9999"
	for _, tt := range []struct {
		name  string
		bases []string
		want  string // what news leads to, or part of the error
	}{
		{"a base", []string{"news=" + here}, here + "/news"},
		{"https", []string{"news=https://127.0.0.1"}, "https://127.0.0.1/news"},
		{"no base", nil, "p.yaml:22: part news: url /news has no host: say with --base where it is"},
		{"no such part", []string{"news=" + here, "nws=" + here}, "--base nws: the plan has no such part: one of price, news, rates, stock, stock.fallback"},
		{"twice", []string{"news=" + here, "news=" + here}, "--base news is given twice"},
		{"a path", []string{"news=" + here + "/x"}, "only scheme, host and port"},
		{"no URL", []string{"news=127.0.0.1:9999"}, "has no scheme"},
		{"no name", []string{here}, "write PART=URL"},
	} {
		targets, err := p.targets(tt.bases)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
			continue
		}
		if got := targets["news"].String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if got := targets["price"].String(); got != "http://127.0.0.1:8080/price?sku=1" {
			t.Errorf("%s: price leads to %s", tt.name, got)
		}
	}
	targets, err := p.targets([]string{"price=" + here, "news=" + here, "stock.fallback=" + here})
	if err != nil || targets["price"].String() != here+"/price?sku=1" || targets["stock.fallback"].String() != here+"/stock" || targets["stock"].String() != "http://127.0.0.1:8083/" {
		t.Errorf("got %v, %v", targets, err)
	}
}

func TestScreenCapsElsewhere(t *testing.T) {
	t.Parallel()
	plan := func(host string, tries string, parts string) *screenPlan {
		p, err := parsePlan("budget: 2s\nparts:\n  - {name: a, url: 'http://" + host + "/', tries: " + tries + "}\n  - together: [" + parts + "]\n")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const four = "{name: b, url: 'http://127.0.0.1:1/'}, {name: c, url: 'http://127.0.0.1:1/'}, {name: d, url: 'http://127.0.0.1:1/'}, {name: e, url: 'http://127.0.0.1:1/', tries: 100}"
	const five = four + ", {name: f, url: 'http://127.0.0.1:1/', tries: 100}"
	for _, tt := range []struct {
		name string
		plan *screenPlan
		want string
	}{
		{"loopback", plan("127.0.0.1", "100", five), ""},
		{"elsewhere, few", plan("partner.example", "100", four), ""},
		{"elsewhere, many at once", plan("partner.example", "1", five), "5 parts side by side are too many for partner.example"},
		{"elsewhere, many tries", plan("partner.example", "100", five), "303 tries are too many for partner.example"},
	} {
		targets, err := tt.plan.targets(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := targets.checkCaps(tt.plan); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// The plans that are shipped are read, and say what they are there to say.
func TestScreenExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/screen/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]screen.Verdict{"order.yaml": screen.Sound, "cannot-hold.yaml": screen.CannotHold}
	for _, file := range files {
		verdict, ok := want[filepath.Base(file)]
		if !ok {
			continue // a partner's file
		}
		delete(want, filepath.Base(file))
		p, err := readScreenPlan(file)
		if err != nil {
			t.Error(err)
			continue
		}
		targets, err := p.targets(nil)
		if err != nil {
			t.Error(err)
			continue
		}
		s, caller, err := p.build(targets, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		caller.Close()
		if got := screen.Worst(p.notes(s)); got != verdict {
			t.Errorf("%s: %v, want %v: %v", file, got, verdict, p.notes(s))
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
