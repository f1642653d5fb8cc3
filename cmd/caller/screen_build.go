package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"chaoslab/budgetcaller"
	"chaoslab/budgetcaller/screen"
	"chaoslab/cmd/internal/cli"
	"chaoslab/cmd/internal/strictyaml"
)

// maxScreenBody bounds the body of an answer, which is kept and printed.
const maxScreenBody = 1 << 20

// screenTargets is where the parts of a plan lead, by name; NAME.fallback is the
// fallback of NAME.
type screenTargets map[string]target

// targets puts the plan's URLs and the values of --base together.
func (p *screenPlan) targets(bases []string) (screenTargets, error) {
	base, err := parseBases(bases)
	if err != nil {
		return nil, err
	}
	urls := p.urls()
	for name := range base {
		if !slices.ContainsFunc(urls, func(u planURL) bool { return u.name == name }) {
			var names []string
			for _, u := range urls {
				names = append(names, u.name)
			}
			return nil, cli.Usagef("--base %s: the plan has no such part: one of %s", name, strings.Join(names, ", "))
		}
	}
	targets := screenTargets{}
	for _, u := range urls {
		if targets[u.name], err = rebase(u.raw, base[u.name]); err != nil {
			return nil, cli.Usagef("%w", u.at.Errorf("part %s: %w", u.name, err))
		}
	}
	return targets, nil
}

// planURL is a URL of a plan, under the name that --base knows it by.
type planURL struct {
	name, raw string
	at        strictyaml.Node
}

// urls returns all URLs of the plan, in order.
func (p *screenPlan) urls() []planURL {
	var all []planURL
	for _, group := range p.groups {
		for i := range group {
			part := &group[i]
			all = append(all, planURL{part.name, part.url, part.at})
			if part.fallback.url != "" {
				all = append(all, planURL{part.name + ".fallback", part.fallback.url, part.at})
			}
		}
	}
	return all
}

func (t screenTargets) names() []string {
	var all []string
	for name := range t {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// parseBases reads the values of --base.
func parseBases(values []string) (map[string]*url.URL, error) {
	bases := map[string]*url.URL{}
	for _, v := range values {
		name, raw, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, cli.Usagef("--base %q: write PART=URL, such as price=http://127.0.0.1:8080", v)
		}
		t, err := parseTarget(raw)
		switch {
		case err != nil:
			return nil, cli.Usagef("--base %s: %w", name, err)
		case t.url.Path != "/" || t.url.RawQuery != "":
			return nil, cli.Usagef("--base %s: %s: only scheme, host and port: path and query are the plan's", name, raw)
		case bases[name] != nil:
			return nil, cli.Usagef("--base %s is given twice", name)
		}
		bases[name] = t.url
	}
	return bases, nil
}

// rebase returns the target of a plan's URL, which may be a path alone, with
// scheme and host of base if that is not nil.
func rebase(raw string, base *url.URL) (target, error) {
	if strings.HasPrefix(raw, "/") && base == nil {
		return target{}, fmt.Errorf("url %s has no host: say with --base where it is", raw)
	}
	if base == nil {
		return parseTarget(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, fmt.Errorf("%q is not a URL", raw)
	}
	u.Scheme, u.Host, u.User = base.Scheme, base.Host, nil
	return parseTarget(u.String())
}

// checkCaps refuses a plan that would make too many calls of somebody else's
// service. On loopback the bounds on plans are enough.
func (t screenTargets) checkCaps(p *screenPlan) error {
	away := slices.IndexFunc(t.names(), func(name string) bool { return !loopback(t[name].url) })
	if away < 0 {
		return nil
	}
	attempts, together := 0, 0
	for _, group := range p.groups {
		together = max(together, len(group))
		for i := range group {
			attempts += max(group[i].dependency.Retry.Attempts, 1)
		}
	}
	host := t[t.names()[away]].url.Hostname()
	switch {
	case attempts > maxRunsElsewhere:
		return cli.Usagef("%d tries are too many for %s (not loopback): at most %d in a plan", attempts, host, maxRunsElsewhere)
	case together > maxParallelElsewhere:
		return cli.Usagef("%d parts side by side are too many for %s (not loopback): at most %d", together, host, maxParallelElsewhere)
	}
	return nil
}

// build makes the screen of the plan, and the Caller through which it calls.
func (p *screenPlan) build(targets screenTargets, seed uint64) (*screen.Screen, *budgetcaller.Caller, error) {
	cfg := budgetcaller.Config{Seed: seed, MaxBodyBytes: maxScreenBody}
	for _, group := range p.groups {
		for i := range group {
			cfg.Dependencies = append(cfg.Dependencies, group[i].dependency)
		}
	}
	caller, err := budgetcaller.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	sc := screen.Config{Name: p.name, Budget: p.budget, Reserve: p.reserve}
	for _, group := range p.groups {
		var parts []screen.Part
		for i := range group {
			parts = append(parts, group[i].screenPart(caller, targets))
		}
		sc.Groups = append(sc.Groups, parts)
	}
	s, err := screen.New(sc)
	if err != nil {
		caller.Close()
		return nil, nil, err
	}
	return s, caller, nil
}

// screenPart makes the part.
func (to *planPart) screenPart(caller *budgetcaller.Caller, targets screenTargets) screen.Part {
	call := func(t target) screen.Func {
		return screen.Through(caller, to.name, func(ctx context.Context) (*http.Request, error) {
			return to.request.to(ctx, t)
		})
	}
	part := screen.Part{
		Name: to.name, Optional: to.optional, Call: call(targets[to.name]),
		Limit: to.limit, Expected: to.expected, Floor: to.floor,
		Dependency: &to.dependency, Availability: to.share,
	}
	switch f := to.fallback; {
	case f.url != "":
		part.Fallback = screen.Fallback{Func: call(targets[to.name+".fallback"]), SetAside: f.setAside}
	case f.value != nil:
		part.Fallback = screen.Fallback{MaxAge: f.maxAge, Old: func() (any, time.Time, bool) {
			return json.RawMessage(f.value), time.Now().Add(-f.age), true
		}}
	}
	return part
}
