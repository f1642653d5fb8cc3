package main

import (
	"fmt"
	"strings"
	"testing"

	"chaoslab/cmd/internal/strictyaml"
	"chaoslab/faults"
)

func parseText(text string) (configFile, error) {
	root, err := strictyaml.Parse("p.yaml", []byte(text))
	if err != nil {
		return configFile{}, err
	}
	return parseConfig(root, false)
}

const whole = `# a partner
seed: 7
admin: 127.0.0.1:8079
ledger_size: 1000
max_connections: 50
per_request: false
listeners:
  - name: pay
    listen: 127.0.0.1:8080
    faults:
      - slow:delay=300ms,when=first=3
      - mode: status
        status: 429
        retry-after: 1
        for: 10s
      - mode: slow
        delay: uniform(1ms,5ms)
        when: first=9
      - mode: truncate
        body: 10 # less than where it is cut if nothing else is said
        at: body:5
  - name: ship
    listen: localhost:8081
    tls: true
`

func TestConfigFile(t *testing.T) {
	t.Parallel()
	f, err := parseText(whole)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Config
	if c.Seed != 7 || !f.hasSeed || f.admin != "127.0.0.1:8079" || c.LedgerSize != 1000 || c.MaxConns != 50 || !c.NoPerRequest || len(c.Listeners) != 2 {
		t.Errorf("got %+v", f)
	}
	if l := c.Listeners[1]; l.Name != "ship" || l.Listen != "localhost:8081" || len(l.Faults) != 0 || f.tls[0] || !f.tls[1] {
		t.Errorf("second listener: got %+v, TLS %v", l, f.tls)
	}
	var got []string
	for _, s := range c.Listeners[0].Faults {
		got = append(got, s.String())
	}
	want := "slow:delay=300ms,when=first=3 status:status=429,retry-after=1,for=10s slow:delay=uniform(1ms,5ms),when=first=9 truncate:at=body:5,body=10"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("faults: got %s, want %s", s, want)
	}
}

// Others can reach a partner if the file or the flag says so, wherever it stands.
func TestConfigFileAllowsRemote(t *testing.T) {
	t.Parallel()
	f, err := parseText("admin: 0.0.0.0:1\nlisteners:\n  - listen: 0.0.0.0:2\nallow_remote: true\n")
	if err != nil || !f.AllowRemote || f.Listeners[0].Listen != "0.0.0.0:2" {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestConfigFileRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "p.yaml:1: "},
		{"no listeners", "seed: 1\n", "p.yaml:1: no listener"},
		{"unknown key", "seed: 1\nsede: 2\n", `p.yaml:2: unknown key "sede" in the file: one of seed, admin, `},
		{"unknown key of a listener", "listeners:\n  - name: x\n    port: 80\n", `p.yaml:3: unknown key "port" in a listener: one of name, listen, tls, faults`},
		{"twice", "seed: 1\nseed: 2\n", "p.yaml:2: "},
		{"bad seed", "seed: -1\n", `p.yaml:1: seed: "-1" is not a whole number`},
		{"bad size", "ledger_size: 0\n", `p.yaml:1: ledger_size: "0" is out of range: a whole number from 1 to`},
		{"bad boolean", "per_request: maybe\n", `p.yaml:1: per_request: "maybe" is none of true, false`},
		{"no list", "listeners:\n  name: x\n", "p.yaml:2: listeners is a list"},
		{"unknown mode", "listeners:\n  - faults:\n      - ok\n      - sloow\n", `p.yaml:4: unknown mode "sloow": one of ok, `},
		{"unknown mode in a mapping", "listeners:\n  - faults:\n      - mode: sloow\n        delay: 1s\n", `unknown mode "sloow": one of ok, `},
		{"bad value", "listeners:\n  - faults:\n      - mode: slow\n        body: 3\n        delay: 5\n", `p.yaml:5: slow: delay: "5" is not a duration`},
		{"unknown parameter", "listeners:\n  - faults:\n      - mode: slow\n        dely: 5s\n", `p.yaml:4: slow: unknown parameter "dely": it takes delay, `},
		{"beyond the body", "listeners:\n  - faults:\n      - mode: truncate\n        at: body:10\n        body: 5\n", "beyond the body of 5"},
		{"beyond the body given after it", "listeners:\n  - faults:\n      - mode: truncate\n        body: 10\n        at: body:20\n", "p.yaml:3: truncate: at: body:20 is beyond the body of 10"},
		{"bad value before its mode", "listeners:\n  - faults:\n      - delay: 5\n        mode: slow\n", `p.yaml:3: slow: delay: "5" is not a duration`},
		{"no mode", "listeners:\n  - faults:\n      - delay: 5s\n", "p.yaml:3: no mode given: one of ok, "},
		{"an anchor", "seed: &a 1\nlisteners:\n  - name: x\n", "p.yaml:1: seed is one plain value"},
		{"same name", "listeners:\n  - name: x\n  - name: x\n", "p.yaml:3: the name x is given twice"},
		{"bad admin", "seed: 1\nadmin: nonsense\n", `p.yaml:2: admin address "nonsense": write HOST:PORT`},
		{"admin for others", "admin: 0.0.0.0:1\n", `p.yaml:1: admin address "0.0.0.0:1" is not loopback`},
		{"how to allow it", "admin: 0.0.0.0:1\n", `: give --allow-remote, or write allow_remote: true`},
		{"not allowed", "allow_remote: false\nadmin: 0.0.0.0:1\n", `p.yaml:2: admin address "0.0.0.0:1" is not loopback`},
		{"bad word for it", "allow_remote: yes\n", `p.yaml:1: allow_remote: "yes" is none of true, false`},
		{"allowed twice", "allow_remote: true\nallow_remote: false\n", "p.yaml:2: "},
		{"how to allow a listener", "listeners:\n  - listen: 0.0.0.0:0\n", `: give --allow-remote`},
		{"bad listen", "listeners:\n  - name: x\n    listen: nonsense\n", `p.yaml:3: listen address "nonsense": write HOST:PORT`},
		{"bad port", "listeners:\n  - listen: 127.0.0.1:99999\n", `p.yaml:2: listen address "127.0.0.1:99999": the port is a number`},
		{"listen for others", "listeners:\n  - name: x\n    listen: 0.0.0.0:0\n", `p.yaml:3: listen address "0.0.0.0:0" is not loopback`},
		{"never acts", "listeners:\n  - name: x\n    faults:\n      - slow\n      - refused\n", `p.yaml:4: refused can never act while slow`},
		{"same mode", "listeners:\n  - faults: [slow]\n  - faults: [slow]\n", `p.yaml:3: the name slow is given twice: give each a name`},
		{"a name that is one's mode", "listeners:\n  - faults: [slow]\n  - name: slow\n", `p.yaml:3: the name slow is given twice`},
		{"a name of two lines", "listeners:\n  - name: \"a\\nready admin url=http://evil\"\n", `p.yaml:2: name "a\nready`},
		{"a name of two words", "listeners:\n  - name: a b\n", `p.yaml:2: name "a b": at most 64 letters, digits and - _ . + :`},
		{"a name that is no text", "listeners:\n  - name: \"a\xff\"\n", `p.yaml`},
		{"same address", "listeners:\n  - name: x\n    listen: 127.0.0.1:8080\n  - name: y\n    listen: 127.0.0.1:8080\n", `p.yaml:5: listen address 127.0.0.1:8080 is given twice`},
		{"its own next hop", "listeners:\n  - listen: 127.0.0.1:8080\n    faults:\n      - ok:when=first=1\n      - chain:next=http://localhost:8080/\n", `p.yaml:5: chain: 127.0.0.1:8080 calls itself`},
		{"hops in a circle", "listeners:\n  - name: a\n    listen: 127.0.0.1:8080\n    faults: [\"chain:next=http://127.0.0.1:8081/\"]\n  - name: b\n    listen: 127.0.0.1:8081\n    faults:\n      - mode: chain\n        next: http://127.0.0.1:8080/\n", `p.yaml:4: chain: it calls itself in a circle: a, b, and a again`},
		{"not YAML", "listeners:\n\t- x\n", "p.yaml:2: this is not YAML: "},
		{"not closed", "listeners: [\n", "this is not YAML: "},
		{"two documents", whole + "---\n" + whole, "not one YAML document but 2"},
		{"too long", strings.Repeat("#", strictyaml.MaxSize+1), "longer than"},
	} {
		_, err := parseText(tc.text)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", tc.name, err, tc.want)
		}
	}
}

// With every mode on a port of its own, the chain's may be the one that it is to
// call.
func TestCircleOfAllModes(t *testing.T) {
	t.Parallel()
	found := 0
	for port := 18000; port < 18100; port++ {
		o := source{modes: []string{"all"}, listen: "127.0.0.1:18000", params: map[string]string{"next": fmt.Sprintf("http://localhost:%d/", port)}}
		if _, err := o.load(); err != nil {
			found++
			if !strings.Contains(err.Error(), "--next: chain: ") || !strings.Contains(err.Error(), "calls itself") {
				t.Errorf("next at port %d: got %v", port, err)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d ports were refused as the chain's own, want 1", found)
	}
}

func FuzzConfigFile(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("listeners:\n  - faults: [slow, {mode: slow, delay: 1s}]\n"))
	f.Add([]byte("a: *b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := parseText(string(text))
		if err != nil {
			return
		}
		if len(file.Listeners) == 0 || len(file.Listeners) != len(file.tls) {
			t.Errorf("Parse(%q) = %+v", text, file)
		}
		for _, l := range file.Listeners {
			for _, s := range l.Faults {
				if _, err := faults.Parse(s.String()); err != nil {
					t.Errorf("Parse(%q): the fault %q cannot be parsed again: %v", text, s, err)
				}
			}
		}
	})
}
