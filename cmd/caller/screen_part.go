package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/backoff"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/cli"
	"chaoslab/cmd/internal/strictyaml"
)

// part reads one part of a plan.
func (p *screenPlan) part(n strictyaml.Node, to *planPart) error {
	to.at, to.request = n, request{header: http.Header{}}
	d, first := &to.dependency, len(p.numbers)
	number := func(name string, to *screen.Number) strictyaml.Key {
		return strictyaml.Key{Name: name, Read: func(n strictyaml.Node) error { return p.number(n, name, to) }}
	}
	limit := func(name string, to *time.Duration) strictyaml.Key {
		return strictyaml.Key{Name: name, Read: func(n strictyaml.Node) error {
			var got screen.Number
			err := p.number(n, name, &got)
			*to = got.D
			return err
		}}
	}
	text := func(name string, to *string) strictyaml.Key {
		return strictyaml.Key{Name: name, Read: func(n strictyaml.Node) error { return n.Text(name, to) }}
	}
	body, need := "", "required"
	err := n.Mapping("a part",
		strictyaml.Key{Name: "name", Read: func(n strictyaml.Node) error { return partName(n, &to.name) }},
		urlKey(&to.url),
		strictyaml.Key{Name: "need", Read: func(n strictyaml.Node) error { return n.Word("need", &need, "required", "optional") }},
		number("limit", &to.limit),
		number("expected", &to.expected),
		number("floor", &to.floor),
		limit("attempt", &d.Limits.Attempt),
		limit("connect", &d.Limits.Connect),
		limit("read", &d.Limits.Read),
		strictyaml.Key{Name: "tries", Read: func(n strictyaml.Node) error { return p.tries(n, &d.Retry.Attempts) }},
		strictyaml.Key{Name: "backoff", Read: func(n strictyaml.Node) error { return p.backoff(n, &d.Retry.Backoff) }},
		strictyaml.Key{Name: "availability", Read: func(n strictyaml.Node) error { return p.availability(n, &to.share) }},
		text("method", &to.request.method),
		strictyaml.Key{Name: "headers", Read: to.headers},
		text("body", &body),
		strictyaml.Key{Name: "fallback", Read: func(n strictyaml.Node) error { return p.fallback(n, &to.fallback) }},
	)
	switch {
	case err != nil:
		return err
	case to.name == "":
		return n.Errorf("the part has no name: write name: and the key it gets in the answer")
	case to.url == "":
		return n.Errorf("part %s has no url", to.name)
	}
	floor := cmp.Or(to.floor.D, to.expected.D, budgetcaller.DefaultFloor)
	if to.limit.D > 0 && to.limit.D < floor {
		return n.Errorf("part %s: its limit of %v is below its floor of %v: it would never be called", to.name, to.limit.D, floor)
	}
	for i := first; i < len(p.numbers); i++ {
		p.numbers[i].Part = to.name
	}
	to.optional = need == "optional"
	d.Name, d.Expected, d.Limits.Floor = to.name, to.expected.D, to.floor.D
	return to.completeRequest(body)
}

// completeRequest sets the method and the body.
func (to *planPart) completeRequest(body string) error {
	r := &to.request
	if body != "" {
		r.body = []byte(body)
	}
	switch {
	case r.method == "" && r.body != nil:
		r.method = http.MethodPost
	case r.method == "":
		r.method = http.MethodGet
	case !isToken(r.method) || r.method == http.MethodConnect:
		return to.at.Errorf("part %s: method %q is none that can be sent: write one such as GET or POST", to.name, r.method)
	}
	return nil
}

// urlKey reads where a part leads: a URL, or a path alone, for which --base says
// the rest.
func urlKey(to *string) strictyaml.Key {
	return strictyaml.Key{Name: "url", Read: func(n strictyaml.Node) error {
		err := n.Text("url", to)
		if err != nil || *to == "" {
			return err
		}
		raw := *to
		if strings.HasPrefix(raw, "/") && !strings.HasPrefix(raw, "//") {
			_, err = rebase(raw, &url.URL{Scheme: "http", Host: "base.invalid"})
		} else {
			_, err = parseTarget(raw)
		}
		if err != nil {
			return n.Errorf("url: %w", err)
		}
		return nil
	}}
}

// partName reads a part's name: a key of the answer, and a word for --base.
func partName(n strictyaml.Node, to *string) error {
	if err := n.Text("name", to); err != nil {
		return err
	}
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`).MatchString(*to) {
		return n.Errorf("name %q: letters, digits, - and _ only, a letter first, at most 40", *to)
	}
	return nil
}

func (to *planPart) headers(n strictyaml.Node) error {
	return n.Entries("headers", func(key string, n strictyaml.Node) error {
		var value string
		if err := n.Text(key, &value); err != nil {
			return err
		}
		name, value, err := parseHeader(key + ": " + value)
		switch {
		case err != nil:
			return n.Errorf("header %s: %w", key, err)
		case name == "Host":
			to.request.host = value
		default:
			to.request.header.Add(name, value)
		}
		return nil
	})
}

func (p *screenPlan) tries(n strictyaml.Node, to *int) error {
	value, reason, err := reasoned(n, "tries")
	if err != nil {
		return err
	}
	if err := value.Count("tries", to, 1, maxScreenTries); err != nil {
		return err
	}
	p.note("tries", strconv.Itoa(*to), reason)
	return nil
}

func (p *screenPlan) availability(n strictyaml.Node, to *float64) error {
	value, reason, err := reasoned(n, "availability")
	if err != nil {
		return err
	}
	if err := value.Share("availability", to); err != nil {
		return err
	}
	p.note("availability", strconv.FormatFloat(*to*100, 'f', -1, 32)+" %", reason)
	return nil
}

func (p *screenPlan) backoff(n strictyaml.Node, to *backoff.Config) error {
	var reason, jitter string
	err := n.Mapping("backoff",
		strictyaml.Key{Name: "base", Read: func(n strictyaml.Node) error { return n.Duration("base", &to.Base) }},
		strictyaml.Key{Name: "cap", Read: func(n strictyaml.Node) error { return n.Duration("cap", &to.Cap) }},
		strictyaml.Key{Name: "jitter", Read: func(n strictyaml.Node) error {
			if err := n.Word("jitter", &jitter, backoff.Full.String(), backoff.Equal.String(), backoff.None.String()); err != nil {
				return err
			}
			return to.Jitter.UnmarshalText([]byte(jitter))
		}},
		strictyaml.Key{Name: "reason", Read: func(n strictyaml.Node) error { return n.Text("reason", &reason) }},
	)
	if err != nil {
		return err
	}
	policy, err := backoff.New(*to)
	if err != nil {
		return n.Errorf("%w", err)
	}
	of := policy.Config()
	p.note("backoff", cli.ShowLimit(of.Base)+" up to "+cli.ShowLimit(of.Cap)+", jitter "+of.Jitter.String(), reason)
	return nil
}

// fallback reads what stands in for a part: another URL, or an old value.
func (p *screenPlan) fallback(n strictyaml.Node, to *planFallback) error {
	var value string
	err := n.Mapping("fallback",
		urlKey(&to.url),
		strictyaml.Key{Name: "set_aside", Read: func(n strictyaml.Node) error { return p.number(n, "set_aside", &to.setAside) }},
		strictyaml.Key{Name: "value", Read: func(n strictyaml.Node) error {
			if err := n.Text("value", &value); err != nil {
				return err
			}
			if !json.Valid([]byte(value)) {
				return n.Errorf("value: %q is not JSON: write it in single quotes, such as '{\"rate\": 1.09}'", value)
			}
			to.value = json.RawMessage(value)
			return nil
		}},
		strictyaml.Key{Name: "age", Read: func(n strictyaml.Node) error { return n.Duration("age", &to.age) }},
		strictyaml.Key{Name: "max_age", Read: func(n strictyaml.Node) error {
			value, reason, err := reasoned(n, "max_age")
			if err == nil {
				err = value.Duration("max_age", &to.maxAge.D)
			}
			if err == nil {
				p.note("max_age", to.maxAge.D.String(), reason)
			}
			to.maxAge.Reason = reason
			return err
		}},
	)
	old := to.age > 0 || to.maxAge.D > 0
	switch {
	case err != nil:
		return err
	case (to.url != "") == (to.value != nil):
		return n.Errorf("fallback has either a url to call or an old value: write one of them")
	case to.url != "" && old:
		return n.Errorf("fallback: age and max_age are those of an old value, not of a url")
	case to.url == "" && to.setAside.D > 0:
		return n.Errorf("fallback: set_aside is time for a url to be called; an old value needs none")
	}
	return nil
}
