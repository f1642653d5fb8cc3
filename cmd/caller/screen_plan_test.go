package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/cli"
	"chaoslab/cmd/internal/strictyaml"
)

const wholePlan = `# everything that a plan can say
screen: order page
budget: {value: 2s, reason: what a customer waits for}
reserve: 80ms
parts:
  - name: price
    url: http://127.0.0.1:8080/price?sku=1
    need: required
    limit: {value: 900ms, reason: two tries}
    attempt: {value: 400ms, reason: p99 times 3}
    connect: 100ms
    read: 300ms
    expected: 120ms
    floor: 100ms
    tries: {value: 2, reason: fails now and then}
    backoff: {base: 50ms, cap: 400ms, jitter: equal, reason: the queue behind it}
    availability: 99.5%
    headers:
      Accept: application/json
      Host: price.internal
  - together:
      - name: news
        url: /news
        need: optional
      - name: rates
        url: http://127.0.0.1:8082/
        body: '{"of": "EUR"}'
        fallback: {value: '{"EUR": 1.09}', age: 5m, max_age: {value: 1h, reason: they move slowly}}
      - name: stock
        url: http://127.0.0.1:8083/
        method: HEAD
        fallback: {url: http://127.0.0.1:8084/stock, set_aside: 100ms}
`

func parsePlan(text string) (*screenPlan, error) {
	root, err := strictyaml.Parse("p.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return parseScreenPlan(root)
}

func TestScreenPlan(t *testing.T) {
	t.Parallel()
	p, err := parsePlan(wholePlan)
	if err != nil {
		t.Fatal(err)
	}
	if p.name != "order page" || p.budget != screen.For(2*time.Second, "what a customer waits for") || p.reserve.D != 80*time.Millisecond || len(p.groups) != 2 || len(p.groups[1]) != 3 {
		t.Fatalf("got %+v", p)
	}
	price := p.groups[0][0]
	d := price.dependency
	if price.optional || price.limit.D != 900*time.Millisecond || price.limit.Reason != "two tries" || price.share != 0.995 || price.request.host != "price.internal" || price.request.method != http.MethodGet {
		t.Errorf("price: %+v", price)
	}
	if l := d.Limits; d.Name != "price" || l.Attempt != 400*time.Millisecond || l.Connect != 100*time.Millisecond || l.Read != 300*time.Millisecond || l.Floor != 100*time.Millisecond || d.Expected != 120*time.Millisecond {
		t.Errorf("price: %+v", d)
	}
	if r := d.Retry; r.Attempts != 2 || r.Backoff != (backoff.Config{Base: 50 * time.Millisecond, Cap: 400 * time.Millisecond, Jitter: backoff.Equal}) {
		t.Errorf("price: %+v", r)
	}
	news, rates, stock := p.groups[1][0], p.groups[1][1], p.groups[1][2]
	if !news.optional || news.url != "/news" {
		t.Errorf("news: %+v", news)
	}
	if f := rates.fallback; rates.request.method != http.MethodPost || string(f.value) != `{"EUR": 1.09}` || f.age != 5*time.Minute || f.maxAge.D != time.Hour {
		t.Errorf("rates: %+v", rates)
	}
	if f := stock.fallback; stock.request.method != http.MethodHead || f.url == "" || f.setAside.D != 100*time.Millisecond {
		t.Errorf("stock: %+v", stock)
	}
	var without []string
	for _, n := range p.numbers {
		if n.Reason == "" {
			without = append(without, n.Part+" "+n.Name)
		}
	}
	const want = " reserve,price connect,price read,price expected,price floor,price availability,stock set_aside"
	if got := strings.Join(without, ","); got != want || len(p.numbers) != 13 {
		t.Errorf("numbers without a reason: %q of %d, want %q of 13", got, len(p.numbers), want)
	}
}

// The plan in the help is one.
func TestScreenPlanInTheHelp(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(newScreen(cli.Streams{}).Long, "its default):\n")
	text, _, ok := strings.Cut(text, "Also:")
	p, err := parsePlan(text)
	if err != nil || !ok || len(p.groups) != 2 || len(p.groups[1]) != 2 {
		t.Errorf("got %+v, %v from %s", p, err, text)
	}
}

func TestScreenPlanRefuses(t *testing.T) {
	t.Parallel()
	part := func(lines ...string) string {
		return "budget: 2s\nparts:\n  - name: a\n    url: http://127.0.0.1:1/\n    " + strings.Join(lines, "\n    ") + "\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "p.yaml:1: not one YAML document"},
		{"no budget", "parts: [{name: a, url: /}]\n", "p.yaml:1: budget is missing: write how long"},
		{"no parts", "budget: 2s\n", "p.yaml:1: parts is missing"},
		{"empty parts", "budget: 2s\nparts: []\n", "p.yaml:2: parts has 0 entries: from 1 to 64"},
		{"unknown key", "budget: 2s\nbudgte: 2s\n", `p.yaml:2: unknown key "budgte" in the plan: one of screen, budget, reserve, parts`},
		{"no unit", "budget: 2\n", `p.yaml:1: budget: "2" has no unit`},
		{"unlimited", "budget: none\n", `p.yaml:1: budget: "none" is not a duration`},
		{"a long budget", "budget: 11m\n", "p.yaml:1: budget: 11m0s is too long: at most 10m0s"},
		{"a number without its value", "budget: {reason: why}\n", "p.yaml:1: budget has no value"},
		{"unknown key in a number", "budget: {value: 2s, because: why}\n", `p.yaml:1: unknown key "because" in budget: one of value, reason`},
		{"reserve", "budget: 2s\nreserve: 2s\nparts: [{name: a, url: /}]\n", "p.yaml:1: reserve 2s leaves nothing"},
		{"reserve of the whole", "budget: 2s\nreserve: maybe\n", `p.yaml:2: reserve: "maybe" is not a duration`},
		{"unknown key in a part", part("urls: x"), `p.yaml:5: unknown key "urls" in a part: one of name, url, need, limit, `},
		{"no name", "budget: 2s\nparts:\n  - url: /\n", "p.yaml:3: the part has no name"},
		{"a name", "budget: 2s\nparts:\n  - name: a.b\n", `p.yaml:3: name "a.b": letters, digits`},
		{"no url", "budget: 2s\nparts:\n  - name: a\n", "p.yaml:3: part a has no url"},
		{"a name twice", "budget: 2s\nparts:\n  - {name: a, url: /}\n  - {name: a, url: /}\n", "p.yaml:4: the name a is taken"},
		{"a name of ours", "budget: 2s\nparts:\n  - {name: degraded, url: /}\n", "p.yaml:3: the name degraded is taken"},
		{"a scheme", "budget: 2s\nparts:\n  - name: a\n    url: ftp://127.0.0.1/\n", `p.yaml:4: url: "ftp://127.0.0.1/": only http and https`},
		{"no scheme", "budget: 2s\nparts:\n  - name: a\n    url: 127.0.0.1:8080/x\n", `p.yaml:4: url: "127.0.0.1:8080/x" has no scheme: did you mean http://127.0.0.1:8080/x?`},
		{"no scheme, with slashes", "budget: 2s\nparts:\n  - {name: a, url: //127.0.0.1/}\n", `p.yaml:3: url: "//127.0.0.1/" has no scheme`},
		{"no host", "budget: 2s\nparts:\n  - {name: a, url: 'http:///x'}\n", `p.yaml:3: url: "http:///x" has no host`},
		{"a port", "budget: 2s\nparts:\n  - {name: a, url: 'http://127.0.0.1:70000/'}\n", `p.yaml:3: url: "http://127.0.0.1:70000/": port 70000`},
		{"no URL", "budget: 2s\nparts:\n  - {name: a, url: '/%zz'}\n", `p.yaml:3: url: "/%zz" is not a URL`},
		{"a fallback's scheme", part("fallback: {url: 'ftp://127.0.0.1/'}"), `p.yaml:5: url: "ftp://127.0.0.1/": only http and https`},
		{"need", part("need: maybe"), `p.yaml:5: need: "maybe" is none of required, optional`},
		{"tries", part("tries: 0"), `p.yaml:5: tries: "0" is out of range: a whole number from 1 to 100`},
		{"limit below the floor", part("limit: 100ms", "floor: 200ms"), "p.yaml:3: part a: its limit of 100ms is below its floor"},
		{"backoff", part("backoff: {base: 2s, cap: 1s}"), "p.yaml:5: backoff: Cap: 1s is below Base, 2s"},
		{"jitter", part("backoff: {jitter: some}"), `p.yaml:5: jitter: "some" is none of full, equal, none`},
		{"availability", part("availability: 0"), `p.yaml:5: availability: "0" is out of range`},
		{"method", part("method: 'GE T'"), `p.yaml:3: part a: method "GE T" is none`},
		{"a header", part("headers: {'a b': c}"), "p.yaml:5: header a b: "},
		{"a header of the connection", part("headers: {Connection: close}"), "p.yaml:5: header Connection: "},
		{"no headers", part("headers: x"), "p.yaml:5: headers is written as lines of key: value"},
		{"an empty fallback", part("fallback: {age: 1m}"), "p.yaml:5: fallback has either a url to call or an old value"},
		{"both fallbacks", part("fallback: {url: /, value: '1'}"), "p.yaml:5: fallback has either"},
		{"no JSON", part("fallback: {value: abc}"), `p.yaml:5: value: "abc" is not JSON`},
		{"an age of a url", part("fallback: {url: /, age: 1m}"), "p.yaml:5: fallback: age and max_age"},
		{"time for nothing", part("fallback: {value: '1', set_aside: 1ms}"), "p.yaml:5: fallback: set_aside"},
		{"together and more", "budget: 2s\nparts:\n  - name: a\n    together: []\n", `p.yaml:3: unknown key "name" in parts that are called together`},
		{"together in together", "budget: 2s\nparts:\n  - together:\n      - together: []\n", `p.yaml:4: unknown key "together" in a part`},
		{"too many", "budget: 2s\nparts:\n" + strings.Repeat("  - {name: a, url: /}\n", 65), "p.yaml:3: parts has 65 entries: from 1 to 64"},
	} {
		_, err := parsePlan(tt.text)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %q: got %v, want %q", tt.name, tt.text, err, tt.want)
		}
	}
}

func FuzzScreenPlan(f *testing.F) {
	f.Add(wholePlan)
	files, _ := filepath.Glob("../../examples/screen/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, s := range []string{"budget: 2s\nparts: [{name: a, url: /}]\n", "budget: {value: 1ns}\n", "reserve: none\n", "parts: [{together: [{}]}]\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePlan(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.yaml:") {
				t.Errorf("%q: error %q does not begin with the file", text, err)
			}
			return
		}
		targets, err := p.targets(nil)
		if err != nil {
			return
		}
		// What is read can be built: there is no second place that refuses it.
		s, caller, err := p.build(targets, 1)
		if err != nil {
			t.Errorf("%q: read, but: %v", text, err)
			return
		}
		caller.Close()
		p.notes(s)
	})
}
